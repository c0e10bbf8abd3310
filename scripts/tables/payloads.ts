import { eventTypes, shapes } from "../../src/events/payload.ts";
import type { DocsTable } from "./table.ts";

export const payloads: DocsTable = {
  page: "docs/reference/handlers.md",
  head: ["type", "fields", "required"],
  rows() {
    const all = Map.groupBy(eventTypes, (type) => shapes[type]);
    return [...all].map(([shape, types]) => [
      types.map(code).join(", "),
      fieldsIn(shape.fields, shape.required).map(code).join(", "),
      shape.required.map(code).join(" or ") || "none",
    ]);
  },
};

type Fields = Readonly<Record<string, { readonly read: (value: unknown) => unknown }>>;

/** Describes each field, such as `postId?` or `actor: { username, name }`. */
function fieldsIn(fields: Fields, required: readonly string[]): string[] {
  return Object.entries(fields).map(([name, { read }]) => {
    // Reading nothing shows whether a field has a default.
    const missing = read(undefined);
    if (typeof missing === "object")
      return `${name}: { ${Object.entries(missing ?? {})
        .map(describe)
        .join(", ")} }`;
    return required.length === 1 && required[0] === name ? name : describe([name, missing]);
  });
}

function describe([name, missing]: readonly [string, unknown]): string {
  return missing === undefined ? `${name}?` : name;
}

function code(text: string): string {
  return `\`${text}\``;
}
