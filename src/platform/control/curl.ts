import type { SentRequest } from "../webhooks/signed.ts";

/** Systems take no longer word in a command, in bytes; Linux takes 128 KiB. */
const MAX_WORD = 100_000;

/** curl writes these itself. */
const OF_CURL: ReadonlySet<string> = new Set(["host", "content-length"]);

/** A request as a line for a POSIX shell: what curl sends are the very bytes that were signed. */
export function curlLine({ url, headers, body }: SentRequest): string {
  const given = Object.entries(headers).filter(([name]) => !OF_CURL.has(name));
  const words = given.map(([name, value]) => `-H ${word(`${name}: ${value}`)}`);
  const text = body.toString("utf8");
  // Neither is a body that begins with @ a file, nor is a bracket in the address a pattern.
  const curl = ["curl -i -g", word(url), ...words].join(" ");
  const plain = body.byteLength <= MAX_WORD && !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(text);
  if (plain) return `${curl} --data-raw ${word(text)}`;
  return `printf '%b' ${word(escaped(text))} | ${curl} --data-binary @-`;
}

function word(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** Escapes each character that a terminal would interpret when the line is pasted. */
function escaped(text: string): string {
  return text.replace(/[\\\p{Cc}\p{Zl}\p{Zp}]/gu, escapeOf);
}

/** Escapes by character, made once. There are 68 such characters, and a megabyte may be full of them. */
const escapes = new Map<string, string>();

function escapeOf(character: string): string {
  const known = escapes.get(character);
  if (known !== undefined) return known;
  const bytes = [...Buffer.from(character)];
  const made = bytes.map((byte) => `\\0${byte.toString(8).padStart(3, "0")}`).join("");
  escapes.set(character, made);
  return made;
}
