const LISTS = /^export (type )?\{([^}]*)\}/gm;
const DECLARATIONS =
  /^export (?:declare )?(?:abstract )?(class|function|const|enum|interface|type) (\w+)/gm;

export function exportedNames(declarations: string): string[] {
  if (/^export \*/m.test(declarations)) throw new Error("an entry must list its names one by one");
  const listed = [...declarations.matchAll(LISTS)].flatMap(([, type, names = ""]) =>
    names
      .split(",")
      .map((name) => name.trim())
      .filter(Boolean)
      .map((name) => (type !== undefined || name.startsWith("type ") ? typed(name) : valued(name))),
  );
  const declared = [...declarations.matchAll(DECLARATIONS)].map(([, kind = "", name = ""]) =>
    kind === "interface" || kind === "type" ? typed(name) : valued(name),
  );
  return [...new Set([...listed, ...declared])].sort();
}

const last = (name: string): string => name.split(" ").at(-1) ?? "";
const typed = (name: string): string => `type ${last(name)}`;
const valued = (name: string): string => `value ${last(name)}`;
