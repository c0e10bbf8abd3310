/**
 * Characters that end a line, command a terminal, turn the direction of writing or cannot be seen: C0 (ESC among them),
 * DEL, C1, bidi controls, line and paragraph separators. The two joiners stay because emoji and scripts need them.
 */
const UNSEEN = "(?![\\u200c\\u200d])[\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}]";

/** Colours and the like (SGR): the only sequences that this project's own output contains. */
const STYLE = "\\u001b\\[[\\d;]*m";

const unseen = new RegExp(UNSEEN, "gu");
const unseenInLines = new RegExp(`(?![\\n\\t])${UNSEEN}`, "gu");
const styleOrUnseen = new RegExp(`${STYLE}|(?![\\n\\t])${UNSEEN}`, "gu");
const style = new RegExp(`^${STYLE}$`);

/** Makes one line of a text from outside. Unseen characters, line breaks included, become `\u202e`. */
export function printable(text: string): string {
  return text.replace(unseen, escapeCharacter);
}

/**
 * Does the same for a text of several lines: line feeds and tabs stay. JSON stays JSON of the same value, because
 * JSON knows these escapes and has the characters in its strings alone.
 */
export function printableText(text: string): string {
  return text.replace(unseenInLines, escapeCharacter);
}

/** Does the same for a text with colours of our own. Values from outside went through `printable` before. */
export function printableStyled(text: string): string {
  return text.replace(styleOrUnseen, (found) =>
    style.test(found) ? found : escapeCharacter(found),
  );
}

/** Writes a character as JSON does, beyond U+FFFF as its two halves. */
function escapeCharacter(character: string): string {
  return Array.from({ length: character.length }, (_, at) => {
    const unit = character.charCodeAt(at).toString(16);
    return `\\u${unit.padStart(4, "0")}`;
  }).join("");
}
