/** The same characters as in core/terminal.ts, which is not here: the scaffolder imports nothing of the runtime. */
const unseen = /(?![\n\t\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Shows the control characters of a directory's name, or of what npm wrote, as `\u202e`. Line feeds and tabs stay. */
export function printableText(text: string): string {
  return text.replace(unseen, (character) =>
    Array.from({ length: character.length }, (_, at) => {
      const unit = character.charCodeAt(at).toString(16);
      return `\\u${unit.padStart(4, "0")}`;
    }).join(""),
  );
}
