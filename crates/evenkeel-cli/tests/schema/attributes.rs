//! What serde's attributes and the words above an item say.

use syn::{Attribute, Expr, ExprLit, Lit, LitStr, Meta};

/// Attributes of serde that change what is written.
#[derive(Default)]
pub(crate) struct Written {
    pub rename: Option<String>,
    pub rename_all: Option<String>,
    pub tag: Option<String>,
    pub into: Option<String>,
    pub transparent: bool,
    pub untagged: bool,
    pub flatten: bool,
    pub skip: bool,
    /// Left out under a condition.
    pub optional: bool,
}

impl Written {
    pub(crate) fn of(attributes: &[Attribute]) -> Self {
        let mut written = Self::default();
        for attribute in attributes.iter().filter(|one| one.path().is_ident("serde")) {
            attribute
                .parse_nested_meta(|meta| {
                    let name = meta.path.get_ident().map(ToString::to_string).unwrap_or_default();
                    let mut value = None;
                    if meta.input.peek(syn::Token![=]) {
                        value = Some(meta.value()?.parse::<LitStr>()?.value());
                    } else if meta.input.peek(syn::token::Paren) {
                        // rename(serialize = ...): none of ours has it.
                        return Err(meta.error("not understood by the schema"));
                    }
                    match name.as_str() {
                        "rename" => written.rename = value,
                        "rename_all" => written.rename_all = value,
                        "tag" => written.tag = value,
                        "into" => written.into = value,
                        "transparent" => written.transparent = true,
                        "untagged" => written.untagged = true,
                        "flatten" => written.flatten = true,
                        "skip" | "skip_serializing" => written.skip = true,
                        "skip_serializing_if" => written.optional = true,
                        // About reading, or about the derive itself.
                        "default"
                        | "try_from"
                        | "from"
                        | "deny_unknown_fields"
                        | "bound"
                        | "deserialize_with"
                        | "borrow"
                        | "alias" => {}
                        other => return Err(meta.error(format!("{other}: teach the schema"))),
                    }
                    Ok(())
                })
                .unwrap();
        }
        written
    }

    /// The name of a field or variant in JSON.
    pub(crate) fn name(&self, all: Option<&str>, rust: &str) -> String {
        match (&self.rename, all) {
            (Some(name), _) => name.clone(),
            (None, Some("kebab-case")) => cut(rust, '-'),
            (None, Some("snake_case")) => cut(rust, '_'),
            (None, Some("lowercase")) => rust.to_lowercase(),
            (None, Some(other)) => panic!("rename_all = {other}: teach the schema"),
            (None, None) => rust.to_owned(),
        }
    }
}

/// `FewLabels` as `few-labels`; names of fields keep their words.
fn cut(name: &str, between: char) -> String {
    let mut cut = String::new();
    for (place, letter) in name.chars().enumerate() {
        if letter.is_uppercase() && place > 0 {
            cut.push(between);
        }
        cut.extend(if letter == '_' {
            between.to_string().chars().collect::<Vec<_>>()
        } else {
            letter.to_lowercase().collect()
        });
    }
    cut
}

/// The words above an item, in one line.
pub(crate) fn words(attributes: &[Attribute]) -> Option<String> {
    let mut lines = Vec::new();
    for attribute in attributes.iter().filter(|one| one.path().is_ident("doc")) {
        if let Meta::NameValue(meta) = &attribute.meta
            && let Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) = &meta.value
        {
            lines.push(text.value().trim().to_owned());
        }
    }
    // The first paragraph says what it is; equations and examples below it are for readers of the code.
    let first: Vec<String> = lines.into_iter().take_while(|line| !line.is_empty()).collect();
    // Links to Rust items mean nothing outside the code.
    let said = first.join(" ").replace("[`", "`").replace("`]", "`");
    (!said.is_empty()).then_some(said)
}
