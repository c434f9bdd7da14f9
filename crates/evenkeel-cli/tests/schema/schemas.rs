//! JSON schemas of types, as serde writes them.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use syn::{Fields, GenericArgument, ItemEnum, ItemStruct, PathArguments, Type, Variant};

use crate::attributes::{Written, words};
use crate::sources::{Found, Kind, Sources, named};

/// Schemas that were asked for, with those they refer to.
pub(crate) struct Schemas<'a> {
    sources: &'a Sources,
    /// By file and name; none while it is being made.
    made: BTreeMap<(String, String), (String, Option<Value>)>,
}

impl<'a> Schemas<'a> {
    pub(crate) fn new(sources: &'a Sources) -> Self {
        Self { sources, made: BTreeMap::new() }
    }

    /// All definitions, by the names they are referred to.
    pub(crate) fn finished(self) -> Map<String, Value> {
        self.made.into_values().map(|(name, schema)| (name, schema.unwrap())).collect()
    }

    /// A reference to the type of a name, as a file means it.
    pub(crate) fn of_type(&mut self, name: &str, file: &str, path: &[String]) -> Value {
        let found = self.sources.find(name, file, path);
        if let Kind::Alias(aliased) = &found.kind {
            return self.of(aliased, &found.file);
        }
        let key = (found.file.clone(), name.to_owned());
        if let Some((shown, _)) = self.made.get(&key) {
            return json!({ "$ref": format!("#/$defs/{shown}") });
        }
        let taken = self.made.values().any(|(shown, _)| shown == name);
        let folder = found.file.trim_end_matches(".rs").rsplit('/').next().unwrap_or_default();
        let shown = if taken { format!("{name}-{folder}") } else { name.to_owned() };
        self.made.insert(key.clone(), (shown.clone(), None));
        let schema = self.made_of(&found);
        self.made.insert(key, (shown.clone(), Some(schema)));
        json!({ "$ref": format!("#/$defs/{shown}") })
    }

    fn made_of(&mut self, found: &Found) -> Value {
        let file = &found.file;
        match &found.kind {
            Kind::Struct(item) => self.of_struct(item, file),
            Kind::Enum(item) => self.of_enum(item, file),
            Kind::Alias(aliased) => self.of(aliased, file),
        }
    }

    fn of_struct(&mut self, item: &ItemStruct, file: &str) -> Value {
        let written = Written::of(&item.attrs);
        let mut schema = if let Some(into) = &written.into {
            let into: Type = syn::parse_str(into).unwrap();
            self.of(&into, file)
        } else {
            match &item.fields {
                Fields::Named(fields) if written.transparent => self.of(&fields.named[0].ty, file),
                Fields::Named(_) => self.object(&item.fields, file, None),
                Fields::Unnamed(fields) if fields.unnamed.len() == 1 => {
                    self.of(&fields.unnamed[0].ty, file)
                }
                Fields::Unnamed(fields) => {
                    let items: Vec<Value> =
                        fields.unnamed.iter().map(|field| self.of(&field.ty, file)).collect();
                    tuple(&items)
                }
                Fields::Unit => json!({ "type": "null" }),
            }
        };
        described(&mut schema, words(&item.attrs));
        schema
    }

    fn of_enum(&mut self, item: &ItemEnum, file: &str) -> Value {
        let written = Written::of(&item.attrs);
        if let Some(into) = &written.into {
            let into: Type = syn::parse_str(into).unwrap();
            return self.of(&into, file);
        }
        let kept = item.variants.iter().filter(|variant| !Written::of(&variant.attrs).skip);
        let mut schemas: Vec<Value> =
            kept.map(|variant| self.variant(variant, &written, file)).collect();
        // Names alone are a list of words, each with what it means.
        let mut schema =
            if schemas.len() == 1 { schemas.remove(0) } else { json!({ "oneOf": schemas }) };
        described(&mut schema, words(&item.attrs));
        schema
    }

    fn variant(&mut self, variant: &Variant, of: &Written, file: &str) -> Value {
        let name =
            Written::of(&variant.attrs).name(of.rename_all.as_deref(), &variant.ident.to_string());
        let mut schema = match (&variant.fields, &of.tag) {
            (Fields::Unit, None) => json!({ "const": name }),
            (Fields::Unit, Some(tag)) => {
                object([(tag.clone(), json!({ "const": name }))], std::slice::from_ref(tag))
            }
            (Fields::Unnamed(fields), _) if of.untagged => self.of(&fields.unnamed[0].ty, file),
            (Fields::Unnamed(fields), Some(tag)) => {
                // The fields of what is inside stand beside the tag.
                let inner = self.of(&fields.unnamed[0].ty, file);
                let mut inner = self.resolved(&inner);
                add(&mut inner, tag, &json!({ "const": name }));
                inner
            }
            (Fields::Named(_), Some(tag)) => self.object(&variant.fields, file, Some((tag, &name))),
            (Fields::Unnamed(fields), None) if fields.unnamed.len() == 1 => {
                object([(name.clone(), self.of(&fields.unnamed[0].ty, file))], &[name])
            }
            (Fields::Unnamed(fields), None) => {
                let items: Vec<Value> =
                    fields.unnamed.iter().map(|field| self.of(&field.ty, file)).collect();
                object([(name.clone(), tuple(&items))], &[name])
            }
            (Fields::Named(_), None) => {
                object([(name.clone(), self.object(&variant.fields, file, None))], &[name])
            }
        };
        described(&mut schema, words(&variant.attrs));
        schema
    }

    /// An object of named fields, with a tag where there is one; flattened fields stand in the object itself.
    fn object(&mut self, fields: &Fields, file: &str, tag: Option<(&String, &String)>) -> Value {
        let mut schema = match tag {
            Some((tag, name)) => {
                object([(tag.clone(), json!({ "const": name }))], std::slice::from_ref(tag))
            }
            None => object([], &[]),
        };
        for (name, field) in named(fields) {
            let written = Written::of(&field.attrs);
            if written.skip {
                continue;
            }
            if written.flatten {
                let inner = self.of(&field.ty, file);
                merge(&mut schema, &self.resolved(&inner));
                continue;
            }
            // A field that is left out where it is none is never null.
            let of = if written.optional { inner_of_option(&field.ty) } else { &field.ty };
            let mut property = self.of(of, file);
            described(&mut property, words(&field.attrs));
            let name = written.name(None, &name.unwrap());
            schema["properties"][&name] = property;
            if !written.optional {
                schema["required"].as_array_mut().unwrap().push(json!(name));
            }
        }
        schema
    }

    /// What a reference refers to.
    fn resolved(&self, schema: &Value) -> Value {
        let Some(reference) = schema.get("$ref").and_then(Value::as_str) else {
            return schema.clone();
        };
        let shown = reference.trim_start_matches("#/$defs/");
        let found = self.made.values().find(|(name, _)| name == shown);
        let found = found.and_then(|(_, schema)| schema.as_ref());
        // What is written in place of a type may be another type in turn.
        self.resolved(found.unwrap_or_else(|| panic!("{shown} contains itself")))
    }

    /// The schema of a type as it is spelled.
    fn of(&mut self, of: &Type, file: &str) -> Value {
        match of {
            Type::Reference(of) => self.of(&of.elem, file),
            Type::Slice(of) => json!({ "type": "array", "items": self.of(&of.elem, file) }),
            Type::Array(of) => {
                let items = self.of(&of.elem, file);
                match &of.len {
                    syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Int(length), .. }) => {
                        let length: u64 = length.base10_parse().unwrap();
                        json!({ "type": "array", "items": items, "minItems": length, "maxItems": length })
                    }
                    _ => json!({ "type": "array", "items": items }),
                }
            }
            Type::Tuple(of) => {
                let items: Vec<Value> = of.elems.iter().map(|one| self.of(one, file)).collect();
                tuple(&items)
            }
            Type::Path(of) => {
                let last = of.path.segments.last().unwrap();
                let inside = inside(&last.arguments);
                match (last.ident.to_string().as_str(), inside.as_slice()) {
                    ("f64" | "f32", _) => json!({ "type": "number" }),
                    ("usize" | "u8" | "u16" | "u32" | "u64" | "u128", _) => {
                        json!({ "type": "integer", "minimum": 0 })
                    }
                    ("i32" | "i64" | "isize", _) => json!({ "type": "integer" }),
                    ("bool", _) => json!({ "type": "boolean" }),
                    ("String" | "str" | "PathBuf" | "Path" | "char", _) => {
                        json!({ "type": "string" })
                    }
                    // Written by hand: 2026-11-17T02:00:00Z.
                    ("Instant", _) => json!({ "type": "string", "format": "date-time" }),
                    // Written by hand, piece by piece, and as this type.
                    ("Base64", _) => json!({ "type": "string" }),
                    ("Reference", _) => self.of_type("StoredReference", file, &[]),
                    // A document that is handed on.
                    ("Value", _) => json!({ "type": "object" }),
                    ("Option", [of]) => json!({ "anyOf": [self.of(of, file), { "type": "null" }] }),
                    ("Vec" | "BTreeSet", [of]) => {
                        json!({ "type": "array", "items": self.of(of, file) })
                    }
                    ("Box" | "Arc" | "Cow", [of]) => self.of(of, file),
                    ("BTreeMap", [_, of]) => {
                        json!({ "type": "object", "additionalProperties": self.of(of, file) })
                    }
                    (name, _) => {
                        let before = of.path.segments.iter().rev().skip(1);
                        let path: Vec<String> =
                            before.map(|segment| segment.ident.to_string()).collect();
                        self.of_type(name, file, &path)
                    }
                }
            }
            other => panic!("{file}: a type that the schema does not know: {other:?}"),
        }
    }
}

/// Types between the angle brackets of a path.
fn inside(arguments: &PathArguments) -> Vec<&Type> {
    let PathArguments::AngleBracketed(arguments) = arguments else { return Vec::new() };
    let types = arguments.args.iter().filter_map(|argument| match argument {
        GenericArgument::Type(of) => Some(of),
        _ => None,
    });
    types.collect()
}

fn inner_of_option(of: &Type) -> &Type {
    let Type::Path(path) = of else { return of };
    let last = path.path.segments.last().unwrap();
    match (last.ident == "Option", inside(&last.arguments).first()) {
        (true, Some(inner)) => inner,
        _ => of,
    }
}

fn object<const N: usize>(properties: [(String, Value); N], required: &[String]) -> Value {
    let properties: Map<String, Value> = properties.into_iter().collect();
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
}

fn tuple(items: &[Value]) -> Value {
    json!({ "type": "array", "prefixItems": items, "minItems": items.len(), "maxItems": items.len() })
}

/// With a description, beside a reference too.
fn described(schema: &mut Value, words: Option<String>) {
    if let Some(words) = words {
        schema["description"] = json!(words);
    }
}

/// An object with one more required property; alternatives get it each.
fn add(schema: &mut Value, name: &str, property: &Value) {
    if let Some(alternatives) = schema.get_mut("oneOf") {
        for alternative in alternatives.as_array_mut().unwrap() {
            add(alternative, name, property);
        }
        return;
    }
    assert!(schema.get("required").is_some(), "{name} beside {schema}");
    schema["properties"][name] = property.clone();
    schema["required"].as_array_mut().unwrap().push(json!(name));
}

/// An object with the properties of another one.
fn merge(schema: &mut Value, other: &Value) {
    for (name, property) in other["properties"].as_object().unwrap() {
        schema["properties"][name] = property.clone();
    }
    let required = other["required"].as_array().unwrap().clone();
    schema["required"].as_array_mut().unwrap().extend(required);
}
