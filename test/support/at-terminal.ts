import { type ChildProcessWithoutNullStreams, execFileSync, spawn } from "node:child_process";
import { Screen } from "../create/screen.ts";
import { quote } from "../faces/create.ts";

/** True if tests can use a real terminal, which the `script` program from util-linux provides. */
export const hasPty: boolean = ((): boolean => {
  try {
    return execFileSync("script", ["--version"], { encoding: "utf8" }).includes("util-linux");
  } catch {
    return false;
  }
})();

if (!hasPty) {
  process.stderr.write(
    "what needs a terminal is not tested: there is no script of util-linux (Debian: apt-get install bsdutils)\n",
  );
}

export interface TerminalOptions {
  readonly cwd: string;
  /** All environment variables except PATH. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Arguments for `stty`. By default, the terminal has no size. */
  readonly size?: string;
}

/** A program running in its own terminal. Tests can type keys. */
export class AtTerminal {
  readonly screen: Screen = new Screen();
  readonly ended: Promise<number>;
  readonly #child: ChildProcessWithoutNullStreams;

  constructor(command: readonly string[], options: TerminalOptions) {
    const { cwd, env, size = "cols 100 rows 40" } = options;
    const line = command.map((word) => quote(word, "linux")).join(" ");
    const sized = size === "" ? line : `stty ${size}; exec ${line}`;
    const args = ["--quiet", "--return", "--flush", "--command", sized, "/dev/null"];
    const own = { PATH: process.env["PATH"] ?? "", TERM: "xterm", SHELL: "/bin/sh", ...env };
    this.#child = spawn("script", args, { cwd, env: own });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream.setEncoding("utf8").on("data", (chunk: string) => this.screen.print(chunk));
    }
    this.ended = new Promise((resolve) => {
      this.#child.once("close", (code) => {
        resolve(code ?? -1);
        this.screen.end();
      });
    });
  }

  type(text: string): void {
    this.#child.stdin.write(text);
  }

  kill(): void {
    this.#child.kill("SIGKILL");
  }
}
