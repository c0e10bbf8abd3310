import { onTestFinished } from "vitest";
import { AtTerminal, type TerminalOptions } from "../support/at-terminal.ts";

export { hasPty, type TerminalOptions as PtyOptions } from "../support/at-terminal.ts";

export class Pty extends AtTerminal {
  constructor(command: readonly string[], options: TerminalOptions) {
    super(command, options);
    onTestFinished(() => this.kill());
  }
}
