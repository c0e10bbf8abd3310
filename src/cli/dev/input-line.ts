import { printable } from "../../core/terminal.ts";

/** Columns of a terminal that does not say how wide it is. */
const DEFAULT_COLUMNS = 80;

export interface InputLineOptions {
  /** Writes a text instead of what stands in the line of the cursor. */
  readonly overwrite: (text: string) => void;
  /** Returns the width of the terminal; `undefined` if unknown. */
  readonly columns: () => number | undefined;
}

/** A line at the bottom of the terminal in which the user types, while other lines are printed above it. */
export class InputLine {
  readonly #options: InputLineOptions;
  #text: string | undefined;

  constructor(options: InputLineOptions) {
    this.#options = options;
  }

  /** Shows this text instead of the previous one; `undefined` removes the line. */
  show(text: string | undefined): void {
    this.#erase();
    this.#text = text;
    this.#draw();
  }

  /** Prints whole lines above it. */
  printAbove(print: () => void): void {
    this.#erase();
    print();
    this.#draw();
  }

  #erase(): void {
    if (this.#text !== undefined) this.#options.overwrite("");
  }

  #draw(): void {
    if (this.#text === undefined) return;
    const { overwrite, columns } = this.#options;
    overwrite(endOf(printable(this.#text), (columns() ?? DEFAULT_COLUMNS) - 1));
  }
}

/** Returns as much of the end of a text as fits into one line: a line that wraps could not be erased. */
function endOf(text: string, columns: number): string {
  const shown: string[] = [];
  let width = 0;
  for (const character of Array.from(text).reverse()) {
    // Many characters beyond Latin take two columns.
    width += character > "\u1100" ? 2 : 1;
    if (width > columns) break;
    shown.unshift(character);
  }
  return shown.join("");
}
