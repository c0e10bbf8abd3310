// biome-ignore-all lint/suspicious/noControlCharactersInRegex: bytes are matched, written as characters
import type { ImageKind } from "../../../core/image-kind.ts";

/**
 * What makes a file something else besides an image, wherever it stands. Each is too long to come about
 * in compressed pixels: in 5 MB of them one in a million at the most.
 */
const foreign: readonly (readonly [looks: RegExp, name: string])[] = [
  [/PK\x03\x04[\x0a-\x3f]\0/, "a ZIP archive"],
  [/PK\x05\x06\0\0\0\0/, "a ZIP archive"],
  [/%PDF-/, "a PDF"],
  [/Rar!\x1a\x07/, "a RAR archive"],
  [/7z\xbc\xaf\x27\x1c/, "a 7z archive"],
  [/<\?php\s|<\?=\s{0,9}\$_|__HALT_COMPILER\(\)/i, "PHP"],
  [/<\?=[\t\n\r -~]{12}|<\?=[\t\n\r -~]{4,200}?\?>/, "PHP"],
  [/<%@\s{1,9}page\b/i, "JSP"],
  [/<script[\s>/]/i, "a script"],
  [/<!doctype\s{1,9}html|<html[\s>]|<iframe[\s>]/i, "HTML"],
  [/<(?:meta|object|embed|style|base|form|applet|frameset)[\s/>]/i, "HTML"],
  [/<a\s[^<>]{0,200}\bhref\s{0,9}=\s{0,9}["']?\s{0,9}javascript:/i, "HTML"],
  [
    /<(?:svg|img|body|video|audio|input|object|details)[\s/][^<]{0,200}\bon[a-z]{3,20}\s{0,9}=/i,
    "HTML",
  ],
  [/#!\/(?:usr\/)?bin\//, "a shell script"],
];

/** Archives whose mark stands at one place. */
const placed: readonly (readonly [at: number, mark: string, name: string])[] = [
  [257, "ustar", "a tar archive"],
  [32_769, "CD001", "a disk image"],
];

/** Behind the beginning of a program's comment, this ends it and goes on with the program. */
const COMMENT_ENDS = /\*\/\s{0,9}[=;,.([`+-]/;

/** An operator, or the beginning of a comment or a text, that makes a program of the name before it. */
const OPERATOR = /^(?:\/[*/]|[=;([.,+\-*%&|^?<>:`][\t\n\r -~])/;

/** The name of what the image is besides, such as `a ZIP archive`. */
export function foreignIn(bytes: Buffer, kind: ImageKind): string | undefined {
  const text = bytes.toString("latin1");
  const mark = placed.find(([at, expected]) => text.startsWith(expected, at));
  if (mark !== undefined) return mark[2];
  if (isProgram[kind]?.(text)) return "JavaScript";
  if (hasDirectory(bytes)) return "a ZIP archive";
  return foreign.find(([looks]) => looks.test(text))?.[1];
}

/**
 * Readers of ZIP archives find the end of the directory, and from it the directory; what else the records hold
 * they hardly look at.
 */
function hasDirectory(bytes: Buffer): boolean {
  for (let end = bytes.indexOf("PK\x05\x06", 0, "latin1"); end !== -1; ) {
    if (end + 22 > bytes.length) return false;
    const size = bytes.readUInt32LE(end + 12);
    const start = end - size;
    if (size > 0 && start >= 0 && bytes.toString("latin1", start, start + 4) === "PK\x01\x02")
      return true;
    // The large kind has its sizes elsewhere, and says so before the end.
    if (end >= 20 && bytes.toString("latin1", end - 20, end - 16) === "PK\x06\x07") return true;
    end = bytes.indexOf("PK\x05\x06", end + 4, "latin1");
  }
  return false;
}

/**
 * A file is a program if its first bytes are a name and what follows goes on with it: then the length,
 * size or width that comes next is chosen to read as an operator.
 */
const isProgram: Readonly<Partial<Record<ImageKind, (text: string) => boolean>>> = {
  gif: (text) => /^\/[*/]/.test(text.slice(6)) || isAssignment(text.slice(6, 13)),
  // A real APP0 is short; the other segments often have lengths that read as an operator.
  jpeg: (text) =>
    (text[3] === "\xe0" && OPERATOR.test(text.slice(4, 6))) || opensComment(text.slice(4)),
  webp: (text) => opensComment(text.slice(4)),
};

/**
 * Width and height, two bytes each, may read as an operator and spaces in a real GIF: 2,400 pixels do. But
 * none has 8,192 of them, nor the beginning of a comment or a text behind such a size.
 */
function isAssignment(text: string): boolean {
  if (!OPERATOR.test(text) || !/^[\t\n\r -~]{4}/.test(text)) return false;
  return /^(?:.[ -~]|...[ -~])/s.test(text) || /^["'`]|\/[*/]/.test(text.slice(4));
}

function opensComment(text: string): boolean {
  return text.startsWith("/*") && COMMENT_ENDS.test(text);
}
