// A program with traits, generics and closures.
trait Shape {
    fn area(&self) -> u64;
}
struct Square(u64);
struct Line(u64);
impl Shape for Square {
    #[inline(always)]
    fn area(&self) -> u64 {
        self.0 * self.0
    }
}
impl Shape for Line {
    fn area(&self) -> u64 {
        self.0 + 1
    }
}
#[inline(never)]
fn sum(shapes: &[Box<dyn Shape>]) -> u64 {
    shapes.iter().map(|shape| shape.area()).sum()
}
fn main() {
    let count = std::env::args().count() as u64;
    let shapes: Vec<Box<dyn Shape>> = vec![Box::new(Square(count)), Box::new(Line(2))];
    println!("{}", sum(&shapes));
}
