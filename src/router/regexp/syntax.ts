/** Part of a regular expression, as far as it affects the time that a match takes. */
export type RegExpPart =
  /** Consumes one character. */
  | { readonly kind: "character"; readonly source: string; readonly flags: string }
  /** Consumes nothing. `start` and `end` are those of the text. */
  | { readonly kind: "start" | "end" | "line start" | "line end" | "word boundary" }
  | { readonly kind: "backreference" }
  | { readonly kind: "lookaround"; readonly body: RegExpPart }
  /** Parts in the order of matching. */
  | { readonly kind: "sequence"; readonly parts: readonly RegExpPart[] }
  | { readonly kind: "choice"; readonly options: readonly RegExpPart[] }
  | RegExpRepeat;

export interface RegExpRepeat {
  readonly kind: "repeat";
  readonly body: RegExpPart;
  readonly min: number;
  /** `Infinity` without an upper limit. */
  readonly max: number;
}

const GROUP = /\((?:\?(?:(<?[=!])|<[^>]*>|([a-z]*)(?:-([a-z]*))?:))?/y;
const QUANTIFIER = /(?:([*+?])|\{(\d+)(?:(,)(\d*))?\})\??/y;
/** Also matches `\c` without a letter, which stands for two characters. */
const BACKREFERENCE = /\\(?:[1-9]\d*|k<[^>]*>|c(?![a-z]))/iy;
const ESCAPE = /\\(?:u[\da-f]{4}|x[\da-f]{2}|c[a-z]|0[0-7]{0,2}|.)/iy;
/** With the flags u and v, braces belong to an escape. Without them, braces are a quantifier. */
const UNICODE_ESCAPE = /\\(?:u\{[^}]*\}|p\{[^}]*\}|u[\da-f]{4}|x[\da-f]{2}|c[a-z]|.)/iy;
const CHARACTER = /./sy;
const UNICODE_CHARACTER = /./suy;

/** Parses an expression. Its syntax is valid, because it is a RegExp. */
export function parseRegExp({ source, flags }: RegExp): RegExpPart {
  return new Parser(source).choice(flags);
}

class Parser {
  readonly #source: string;
  #at = 0;
  /** True inside a lookbehind, which matches from right to left. */
  #isBackward = false;

  constructor(source: string) {
    this.#source = source;
  }

  /** Reads up to the end of the group. */
  choice(flags: string): RegExpPart {
    const options = [this.#sequence(flags)];
    while (this.#skip("|")) options.push(this.#sequence(flags));
    const [only] = options;
    return only !== undefined && options.length === 1 ? only : { kind: "choice", options };
  }

  #sequence(flags: string): RegExpPart {
    const parts: RegExpPart[] = [];
    while (this.#at < this.#source.length && !this.#isNext("|") && !this.#isNext(")")) {
      parts.push(this.#quantified(this.#atom(flags)));
    }
    return { kind: "sequence", parts: this.#isBackward ? parts.reverse() : parts };
  }

  #quantified(body: RegExpPart): RegExpPart {
    const [found, sign, least, comma, most] = this.#read(QUANTIFIER);
    if (found === undefined) return body;
    if (sign === "?") return { kind: "repeat", body, min: 0, max: 1 };
    const min = sign === "+" ? 1 : Number(least ?? 0);
    const isOpen = sign !== undefined || (comma !== undefined && most === "");
    return { kind: "repeat", body, min, max: isOpen ? Infinity : Number(most ?? least) };
  }

  #atom(flags: string): RegExpPart {
    const isUnicode = /[uv]/.test(flags);
    if (this.#isNext("(")) return this.#group(flags);
    if (this.#isNext("[")) {
      return { kind: "character", source: this.#class(flags.includes("v")), flags };
    }
    if (this.#skip("^")) return { kind: flags.includes("m") ? "line start" : "start" };
    if (this.#skip("$")) return { kind: flags.includes("m") ? "line end" : "end" };
    if (this.#skip("\\b") || this.#skip("\\B")) return { kind: "word boundary" };
    if (this.#read(BACKREFERENCE)[0] !== undefined) return { kind: "backreference" };
    const escaped = this.#read(isUnicode ? UNICODE_ESCAPE : ESCAPE)[0];
    const source = escaped ?? this.#read(isUnicode ? UNICODE_CHARACTER : CHARACTER)[0] ?? "";
    return { kind: "character", source, flags };
  }

  #group(flags: string): RegExpPart {
    const [, look, added = "", removed = ""] = this.#read(GROUP);
    const kept = [...flags].filter((flag) => !`${added}${removed}`.includes(flag)).join("");
    const isBackward = this.#isBackward;
    if (look !== undefined) this.#isBackward = look.startsWith("<");
    const body = this.choice(kept + added);
    this.#isBackward = isBackward;
    this.#skip(")");
    return look === undefined ? body : { kind: "lookaround", body };
  }

  /** Reads a class. With the flag v, classes may contain classes. */
  #class(mayNest: boolean): string {
    const begin = this.#at;
    let depth = 0;
    do {
      if (this.#isNext("\\")) this.#at += 1;
      else if (this.#isNext("[") && (mayNest || depth === 0)) depth += 1;
      else if (this.#isNext("]")) depth -= 1;
      this.#at += 1;
    } while (depth > 0 && this.#at < this.#source.length);
    return this.#source.slice(begin, this.#at);
  }

  #isNext(text: string): boolean {
    return this.#source.startsWith(text, this.#at);
  }

  #skip(text: string): boolean {
    const isNext = this.#isNext(text);
    if (isNext) this.#at += text.length;
    return isNext;
  }

  #read(token: RegExp): readonly (string | undefined)[] {
    token.lastIndex = this.#at;
    const found = token.exec(this.#source) ?? [];
    this.#at += found[0]?.length ?? 0;
    return found;
  }
}
