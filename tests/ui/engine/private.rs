use azulejo::Promises;

fn main() {
    // only the methods of `Code` promise anything
    let _ = Promises { unit: Some(1), temporaries: None };
}
