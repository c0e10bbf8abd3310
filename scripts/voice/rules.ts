import type { Kind, Text } from "./texts.ts";

export interface Rule {
  readonly name: string;
  readonly pattern: RegExp;
  readonly instead: string;
  /** Kinds of text to check. Default: all. */
  readonly kinds?: readonly Kind[];
}

export const RULES: readonly Rule[] = [
  {
    name: "opening",
    pattern: /^(?:What|Where|Who|Whose|Those|So|Of|As)\b(?! (?:usual|long as))/,
    instead: "begin with a verb (functions) or the noun itself (types, constants)",
    kinds: ["comment"],
  },
  {
    name: "tell",
    pattern: /\b(?:tell|tells|told)\b/i,
    instead: "return, log, report, notify, send, record",
  },
  {
    name: "nobody",
    pattern: /\b(?:nobody|somebody|whoever|whatever)\b/i,
    instead: "the noun: event, lane, request, instance, user",
  },
  {
    name: "passive",
    pattern: /\b(?:is|are|was|were|be|been) (?:told|said|meant|known|asked)\b/i,
    instead: "the subject and its verb",
  },
  {
    name: "undefined",
    pattern: /\bundefined (?:where|when|while)\b/i,
    instead: "`undefined` if …",
    kinds: ["comment"],
  },
  {
    name: "any more",
    pattern: /\bany more\b(?! (?:than|of)\b)/i,
    instead: "no longer",
  },
  { name: "be it", pattern: /\bbe it\b/i, instead: "even if" },
  {
    name: "spelling",
    pattern: /\b(?:cancel(?:ed|ing)|recognis(?:e[ds]?|ing)|behaviors?|misspelled)\b/i,
    instead: "British spelling with -ize: cancelled, recognize, behaviour, misspelt",
  },
  {
    name: "else",
    pattern: /[,:] else\b(?! if\b)/,
    instead: "otherwise",
  },
];

export interface Finding extends Text {
  readonly rule: Rule;
  readonly found: string;
}

export function findIn(texts: readonly Text[]): Finding[] {
  return texts.flatMap((text) =>
    RULES.filter(({ kinds }) => kinds === undefined || kinds.includes(text.kind)).flatMap(
      (rule) => {
        const [found] = rule.pattern.exec(text.words) ?? [];
        return found === undefined ? [] : [{ ...text, rule, found }];
      },
    ),
  );
}
