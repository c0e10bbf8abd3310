import type { Entry, Member } from "./describe.ts";
import {
  alphabetical,
  documentedBy,
  type EntryPoint,
  entryPoints,
  type PublicEntry,
} from "./reference.ts";

/** Path of the report in the repository. */
export const REPORT = "docs/internals/public-surface.txt";

const HEAD = "Public surface of service-bot. Written by `npm run docs -- reference`.";

/**
 * Returns the report of the public surface: every exported name with its signature, without prose. A change of the
 * surface is reviewed in the report's diff.
 */
export function surface(points: readonly EntryPoint[] = entryPoints()): string {
  const documented = documentedBy(points);
  const sections = points.flatMap((point) => {
    const { own = [], unexported = [] } = documented.get(point) ?? {};
    const others = point.entries.filter((entry) => !own.includes(entry));
    return [
      [`# ${point.name}`, ...alphabetical(own).map(exported)],
      ["## Exported by another entry too", ...alphabetical(others).map(({ name }) => name)],
      ["## Used by exported names, but not exported", ...alphabetical(unexported).map(block)],
    ].filter(([title = "", ...blocks]) => blocks.length > 0 || title.startsWith("# "));
  });
  return `${[HEAD, ...sections.flat()].join("\n\n")}\n`;
}

/** Returns `type Context` or `value Bot` for each exported name of an entry point, in the order of the alphabet. */
export function exportedBy({ entries }: EntryPoint): string[] {
  return entries.map(({ isType, name }) => `${isType ? "type" : "value"} ${name}`).sort();
}

function exported(entry: PublicEntry): string {
  const isClassAsType = entry.isType && entry.kind !== "type";
  return `${isClassAsType ? "type of " : ""}${block(entry)}`;
}

function block({ name, kind, signature, members }: Entry): string {
  const head = signature ?? `${kind === "type" ? "interface" : "class"} ${name}`;
  return [head, ...members.flatMap((member) => lines(member, "  "))].join("\n");
}

function lines({ signature, parts }: Member, indent: string): string[] {
  return [`${indent}${signature}`, ...parts.flatMap((part) => lines(part, `${indent}  `))];
}
