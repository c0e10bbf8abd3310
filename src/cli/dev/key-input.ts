/** Time in ms within which a key after another one belongs to a word, which was meant for another window. */
const WORD_MS = 300;

/** Time in ms within which a second press confirms. */
const CONFIRM_MS = 5_000;

const ESCAPE = "\u001b";

/** Keys that ask for a text, with the words before it. */
const prompts: Readonly<Record<string, string>> = { d: "dm as @ada", m: "mention as @ada" };

/** Something that a user asks for with keys. */
export type KeyCommand =
  | { readonly kind: "press"; readonly key: string }
  | { readonly kind: "send"; readonly key: string; readonly text: string }
  | { readonly kind: "say"; readonly text: string }
  | { readonly kind: "clear" }
  | { readonly kind: "quit" };

export interface KeyInputOptions {
  /** Returns what a key does, if it is to be pressed twice; otherwise `undefined`. */
  readonly needsConfirmation: (key: string) => string | undefined;
}

/**
 * Turns what a terminal sends into commands. Single printable keys act. A word or a pasted text does not, because it was
 * most likely meant for another window; nor do control characters, Ctrl-C and Ctrl-L apart.
 */
export class KeyInput {
  readonly #options: KeyInputOptions;
  #prompt: { readonly key: string; text: string } | undefined;
  /** Time of the last key, in ms. */
  #lastAt = Number.NEGATIVE_INFINITY;
  #isWordReported = false;
  #unconfirmed: { readonly key: string; readonly at: number } | undefined;

  constructor(options: KeyInputOptions) {
    this.#options = options;
  }

  /** The line in which a text is typed; `undefined` while single keys act. */
  get line(): string | undefined {
    if (this.#prompt === undefined) return undefined;
    const { key, text } = this.#prompt;
    return `${prompts[key]} (Enter sends, Esc cancels): ${text}`;
  }

  /** @param now time in ms, on any clock */
  take(chunk: string, now: number): readonly KeyCommand[] {
    if (chunk.includes("\u0003")) return [{ kind: "quit" }];
    const lastAt = this.#lastAt;
    this.#lastAt = now;
    if (this.#prompt !== undefined) return this.#takeText(chunk, this.#prompt);
    if (chunk === "\f") return [{ kind: "clear" }];
    // One control character, or the sequence of a key such as an arrow.
    if (/^\p{Cc}$/u.test(chunk) || chunk.startsWith(ESCAPE)) return [];
    const { key: unconfirmed, at = 0 } = this.#unconfirmed ?? {};
    this.#unconfirmed = undefined;
    const isConfirmed = chunk === unconfirmed && now - at <= CONFIRM_MS;
    const isWord = Array.from(chunk).length > 1 || now - lastAt < WORD_MS;
    if (isWord && !isConfirmed) return this.#refuseWord();
    this.#isWordReported = false;
    return this.#takeKey(chunk, isConfirmed, now);
  }

  #takeKey(key: string, isConfirmed: boolean, now: number): readonly KeyCommand[] {
    if (Object.hasOwn(prompts, key)) {
      this.#prompt = { key, text: "" };
      return [];
    }
    const effect = isConfirmed ? undefined : this.#options.needsConfirmation(key);
    if (effect === undefined) return [{ kind: "press", key }];
    this.#unconfirmed = { key, at: now };
    return [{ kind: "say", text: `Press ${key} again to ${effect}.` }];
  }

  /** Says so once for each word. */
  #refuseWord(): readonly KeyCommand[] {
    if (this.#isWordReported) return [];
    this.#isWordReported = true;
    return [
      {
        kind: "say",
        text: "Ignored: more than one key at once. d writes a message, ? shows the keys.",
      },
    ];
  }

  #takeText(chunk: string, prompt: { readonly key: string; text: string }): readonly KeyCommand[] {
    const isEscape = chunk === ESCAPE;
    // Arrows and other keys that send a sequence.
    if (chunk.startsWith(ESCAPE) && !isEscape) return [];
    const isEnd = isEscape || /[\r\n]$/.test(chunk);
    // A pasted text of several lines is one message.
    for (const character of isEscape ? "" : chunk.replace(/[\r\n]+$/, "")) {
      prompt.text = edited(prompt.text, character);
    }
    if (!isEnd) return [];
    this.#prompt = undefined;
    const text = prompt.text.trim();
    if (isEscape || text === "") return [{ kind: "say", text: "Cancelled." }];
    return [{ kind: "send", key: prompt.key, text }];
  }
}

/** Returns a line after one more character: Backspace and Ctrl-U delete, other control characters become a space or go. */
function edited(text: string, character: string): string {
  if (character === "\u007f" || character === "\b") return Array.from(text).slice(0, -1).join("");
  if (character === "\u0015") return "";
  if (/[\r\n\t]/.test(character)) return `${text} `;
  return /\p{Cc}/u.test(character) ? text : text + character;
}
