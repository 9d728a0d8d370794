//! Every plan in `fixtures/plans/bad/` says in its first lines what is wrong with it, word for word.

use std::fs;
use std::path::Path;

use roundgate::interop::plan_file::parse;

#[test]
fn every_bad_plan_is_refused_with_exactly_the_complaints_it_announces() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/plans/bad");
    let mut plans = 0;
    for entry in fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        let announced: Vec<&str> = text.lines().map_while(|line| line.strip_prefix("#: ")).collect();
        let errors = parse(&text).expect_err("a bad plan");
        let found: Vec<String> =
            errors.iter().map(|e| format!("{}:{}: {}", e.line, e.column, e.complaint())).collect();
        assert_eq!(found, announced, "{}\n#: {}", path.display(), found.join("\n#: "));
        plans += 1;
    }
    assert!(plans >= 12, "only {plans} plans in {}", folder.display());
}
