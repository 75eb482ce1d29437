# Arguments by name beside gdb, which reads them at the same stop of the same run (tests/lib/gdb_arguments.py): functions, arguments,
# fields and elements at random, of C (nopwatch itself), C++ and Rust at -O2. None may be wrong. ALL=1 takes 300 of each with a
# seed of the day; PROGRAM=FILE ARGUMENTS='ARGS <INPUT' looks at a program of yours, too.
. "$(dirname "$0")/../lib/kernel.sh"

grep -qa 'libdw\.so' "$NOPWATCH" || skip_all "built without libdw"
case $(uname -m) in
x86_64 | aarch64) ;;
*) skip_all "DWARF's registers of this architecture are not known" ;;
esac
need gdb || skip_all "no gdb"
cat >shop.cc <<'EOC'
#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>
#define K __attribute__((noinline))
static inline void use(const void *p) { __asm__ volatile("" ::"r"(p) : "memory"); }
namespace shop
{
enum class Kind : unsigned char { Book, Toy = 5, Food };
struct Base { virtual ~Base() = default; int id = 7; long stamp = -5; };
struct Price { double amount; const char *currency; bool net; };
struct Item : Base {
	Kind kind;
	Price price;
	short stock[4];
	unsigned flags : 3;
	int delta : 7;
	Item *next = nullptr;
	std::string name;
};
struct Cart { std::vector<Item *> items; std::map<int, Item *> by_id; Item *first = nullptr; float discount = 0.25f; };
K long add(Cart &cart, Item *item, int count, Kind kind)
{
	cart.items.push_back(item);
	cart.by_id[item->id] = item;
	item->next = cart.first;
	cart.first = item;
	return count + (int)kind;
}
template <typename T> K T twice(T value, const Item &item) { use(&item); return value + value + (T)item.id; }
struct Visitor {
	int depth;
	const Cart *cart;
	K int visit(const Item *item, int level, const char *why)
	{
		depth += level;
		use(why);
		return item ? visit(item->next, level + 1, "next") + depth : 0;
	}
	K static int count(const Visitor *v, unsigned long n, signed char c) { use(v); return (int)n + c; }
};
K int by_value(Price p, int after, Kind k, const Price &q) { use(&q); return (int)p.amount + after + (int)k + (int)q.amount; }
K int many(int a, long b, short c, char d, unsigned e, bool f, int g, const char *h, Item *i)
{
	use(h);
	return a + (int)b + c + d + (int)e + f + g + h[0] + i->id;
}
K int refs(int &x, Item *&p, const std::string &s, Kind &k) { x++; use(&x); return p->id + (int)s.size() + (int)k; }
K static int less(const Item *a, const Item *b) { return a->price.amount < b->price.amount; }
}
int main()
{
	using namespace shop;
	Cart cart;
	std::vector<std::unique_ptr<Item>> own;
	int x = 3;
	Kind k = Kind::Food;
	for (int i = 0; i < 8; i++) {
		auto it = std::make_unique<Item>();
		it->id = 100 + i, it->kind = i % 2 ? Kind::Toy : Kind::Food, it->price = {i * 1.5, i % 2 ? "EUR" : "USD", i % 3 == 0};
		for (int j = 0; j < 4; j++)
			it->stock[j] = (short)(-i * j);
		it->flags = (unsigned)i & 7, it->delta = -i, it->name = "item-" + std::to_string(i);
		add(cart, it.get(), i * 1000, it->kind);
		own.push_back(std::move(it));
	}
	Visitor v{0, &cart};
	long sum = v.visit(cart.first, 1, "start") + Visitor::count(&v, 1ul << 40, (signed char)-3);
	sum += twice(3, *cart.first) + twice(5l, *cart.first) + (long)twice(2.5f, *cart.first);
	sum += by_value(Price{1.5, "CHF", true}, 9, Kind::Book, cart.first->price);
	sum += many(-1, -2, -3, 'x', 4000000000u, true, -7, "eight", cart.first);
	Item *q = cart.first;
	sum += refs(x, q, cart.first->name, k);
	std::sort(cart.items.begin(), cart.items.end(), less);
	printf("%ld %s\n", sum, cart.items[0]->name.c_str());
	return 0;
}
EOC
cat >shop.rs <<'EOC'
#![allow(dead_code)]
#[derive(Clone, Copy)]
#[repr(u8)]
pub enum Kind { Book = 1, Toy = 5, Food }
pub struct Price { amount: f64, cents: i32, net: bool }
pub struct Item { id: u32, delta: i16, kind: Kind, price: Price, stock: [i32; 4], letter: char, name: String }
pub struct Cart { items: Vec<Item>, last: i64 }
impl Cart {
    #[inline(never)]
    pub fn add(&mut self, item: Item, count: i64, kind: Kind) -> i64 { self.items.push(item); self.last = count; count + kind as i64 }
    #[inline(never)]
    pub fn sum(&self, from: usize, step: i8, wide: u64) -> i64 {
        self.items.iter().skip(from).map(|i| value(i, step, wide as u16)).sum()
    }
}
#[inline(never)]
fn value(item: &Item, step: i8, small: u16) -> i64 { item.price.cents as i64 + item.delta as i64 + item.stock[2] as i64 + step as i64 + small as i64 }
#[inline(never)]
fn text(s: &str, flag: bool, letter: char, price: &Price) -> usize { s.len() + flag as usize + letter as usize + price.cents as usize }
#[inline(never)]
fn pick<T: Copy + Into<i64>>(value: T, item: &mut Item) -> i64 { item.delta -= 1; let v: i64 = value.into(); v + item.id as i64 }
#[inline(never)]
fn option(value: Option<&Item>, other: Option<u32>, pair: (i32, u8)) -> u32 { value.map_or(0, |i| i.id) + other.unwrap_or(1) + pair.0 as u32 + pair.1 as u32 }
fn main() {
    let mut cart = Cart { items: Vec::new(), last: 0 };
    let mut total = 0i64;
    for i in 0..6u32 {
        let kind = if i % 2 == 0 { Kind::Food } else { Kind::Toy };
        let price = Price { amount: i as f64 * 1.5, cents: i as i32 * 150, net: i % 3 == 0 };
        let item = Item { id: 100 + i, delta: -(i as i16), kind, price, stock: [1, -2, i as i32, 4], letter: 'x', name: format!("item-{}", i) };
        total += cart.add(item, i as i64 * 1000, kind);
    }
    total += cart.sum(1, 2, 77) + text("hello", true, 'x', &cart.items[1].price) as i64;
    total += pick(5i32, &mut cart.items[0]) + pick(7u8, &mut cart.items[2]) + option(cart.items.get(1), Some(3), (4, 5)) as i64;
    println!("{} {} {}", total, cart.last, cart.items[0].name);
}
EOC

# agrees PROGRAM COUNT LEAST ARGUMENTS: of COUNT values, none is wrong, and at least LEAST are equal.
agrees() {
  local count=$2
  if [ -n "${ALL:-}" ]; then count=300; fi
  COUNT=$count SEED=$seed SAID=said.json RUN=$4 timeout 600 gdb -nx -q -batch -x "$TESTS_LIB/gdb_arguments.py" "./$1" >gdb.out 2>&1
  printf '# %s, seed %s: ' "$1" "$seed" && cat said.json && echo
  holds "$1: of values at random none is other than gdb's, and most are there" said.json \
    "rows[0]['wrong'] == 0 and rows[0]['only nopwatch'] == 0 and rows[0]['without a hit'] == 0 and rows[0]['unread'] == 0 and rows[0]['equal'] >= $3" ||
    tail -n 5 gdb.out | sed 's/^/# /'
  rm -f said.json
}
seed=1
if [ -n "${ALL:-}" ]; then seed=$(date +%j); fi
cp "$NOPWATCH" c
agrees c 24 12 'list /bin/sh >/dev/null'
if g++ -O2 -g -o cxx shop.cc 2>err; then agrees cxx 36 14 '>/dev/null'; else skip "C++" "it does not compile"; fi
if need rustc && rustc -C opt-level=2 -g -o rust shop.rs 2>err; then agrees rust 24 3 '>/dev/null'; else skip "Rust" "no rustc"; fi
if [ -n "${PROGRAM:-}" ]; then
  cp "$PROGRAM" other && agrees other 60 1 "${ARGUMENTS:-}"
fi
unchanged
finish
