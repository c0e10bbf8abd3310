import { spawn } from "node:child_process";
import {
  clearScreenDown,
  createInterface,
  cursorTo,
  type Interface,
  moveCursor,
} from "node:readline";
import { PassThrough, type Readable, type Writable } from "node:stream";
import { trimEndOf } from "../../core/text.ts";
import { messageOf } from "../../errors.ts";
import type { EventType } from "../../events/types.ts";
import type { Platform } from "../../platform/index.ts";
import { printLine } from "../output.ts";

export const KEYS =
  "o open  d dm  m mention  l like  r replay  f fail next  w webhook on/off  ? keys  q quit";

/** Time limit for confirming a key with a second press, in ms. */
const CONFIRM_MS = 5_000;

const ESCAPE = "\u001b";
const CTRL_C = "\u0003";

export interface KeyboardOptions {
  readonly platform: Platform;
  /** Default: standard input. */
  readonly input?: Readable & {
    readonly isTTY?: boolean | undefined;
    setRawMode?(mode: boolean): unknown;
  };
  readonly output?: Writable;
  readonly print?: (line: string) => void;
  readonly open?: (url: string) => Promise<boolean>;
}

interface Typing {
  readonly line: Interface;
  readonly keys: PassThrough;
}

/**
 * Keyboard shortcuts for `service-bot dev`. Some keys prompt for text on the terminal's last line, while other lines
 * are printed above it.
 */
export class Keyboard {
  readonly #options: Required<KeyboardOptions>;
  readonly #quit = Promise.withResolvers<void>();
  #typing: Typing | undefined;
  #unconfirmed: { readonly key: string; readonly at: number } | undefined;

  constructor(options: KeyboardOptions) {
    const { stdin: input, stdout: output } = process;
    this.#options = { input, output, print: printLine, open: openInBrowser, ...options };
  }

  get quit(): Promise<void> {
    return this.#quit.promise;
  }

  listen(): void {
    const { input } = this.#options;
    if (input.isTTY !== true) return;
    input.setEncoding("utf8").on("data", this.#onData);
    input.setRawMode?.(true);
    input.resume();
  }

  stop(): void {
    const { input } = this.#options;
    if (input.isTTY !== true) return;
    input.off("data", this.#onData);
    this.#typing?.line.close();
    input.setRawMode?.(false);
    input.pause();
  }

  readonly say = (line: string): void => this.printAbove(() => this.#options.print(line));

  printAbove(print: () => void): void {
    const rows = this.#eraseText();
    print();
    // prompt() first moves the cursor up by the rows the old prompt took, so move down by as many.
    this.#options.output.write("\n".repeat(rows));
    this.#typing?.line.prompt(true);
  }

  async press(key: string, now: number = performance.now()): Promise<void> {
    if (!this.#isConfirmed(key, now)) return;
    const { platform, print } = this.#options;
    const { control } = platform;
    if (key === "d") await this.#write("dm.message", "dm as @ada");
    else if (key === "m") await this.#write("mention", "mention as @ada");
    else if (key === "l") control.act({ type: "like", from: "ada" });
    else if (key === "r") await this.#replay();
    else if (key === "f") control.setFaults({ webhook: { mode: "status", times: 1 } });
    else if (key === "w") control.saveWebhook({ enabled: !control.webhook.enabled });
    else if (key === "o") await this.#openPortal();
    else if (key === "?" || key === "h") print(KEYS);
    else if (key === "q") this.#quit.resolve();
  }

  readonly #onData = (chunk: string): void => {
    if (chunk.includes(CTRL_C)) this.#quit.resolve();
    else if (this.#typing !== undefined) {
      if (chunk !== ESCAPE) {
        this.#typing.keys.write(joinLines(chunk));
        return;
      }
      this.#eraseText();
      this.#typing.line.close();
    }
    // Arrows and other special keys send an escape sequence.
    else if (chunk.startsWith(ESCAPE)) return;
    // The user may have pasted text into the wrong window.
    else if (Array.from(chunk).length > 1)
      this.say("Pasted text is ignored. Press d to write a message, ? to show the keys.");
    else this.press(chunk).catch((error: unknown) => this.say(messageOf(error)));
  };

  #isConfirmed(key: string, now: number): boolean {
    const { key: unconfirmed, at = 0 } = this.#unconfirmed ?? {};
    this.#unconfirmed = undefined;
    if (key === unconfirmed && now - at <= CONFIRM_MS) return true;
    const effect = this.#effectToConfirm(key);
    if (effect === undefined) return true;
    this.#unconfirmed = { key, at: now };
    this.say(`Press ${key} again to ${effect}.`);
    return false;
  }

  #effectToConfirm(key: string): string | undefined {
    if (key === "f") return "make the next delivery fail";
    const { webhook } = this.#options.platform.control;
    return key === "w" && webhook.enabled ? "switch the webhook off" : undefined;
  }

  async #write(type: EventType, label: string): Promise<void> {
    const { output, platform } = this.#options;
    // readline pauses its input when it closes, and turns raw mode off. A separate stream protects standard input.
    const keys = new PassThrough();
    const line = createInterface({ input: keys, output, terminal: true, historySize: 0 });
    this.#typing = { line, keys };
    const answer = await new Promise<string>((resolve) => {
      line.once("close", () => resolve(""));
      line.question(`${label} (Enter sends, Esc cancels): `, resolve);
    });
    line.close();
    this.#typing = undefined;
    const text = answer.trim();
    if (text === "") this.say("Cancelled.");
    else platform.control.act({ type, from: "ada", text });
  }

  /** Delivers the newest event again, as a platform does when the bot's response is lost. */
  async #replay(): Promise<void> {
    const { control } = this.#options.platform;
    const { lastEventId } = control.state();
    if (lastEventId === null) {
      this.say("There is no event to replay. Press d to send one.");
      return;
    }
    this.say(`replaying ${lastEventId}`);
    await control.deliver({ eventIds: [lastEventId] });
  }

  async #openPortal(): Promise<void> {
    const { platform, open } = this.#options;
    if (await open(platform.portalUrl)) return;
    this.say(`Cannot open a browser. The portal is at ${platform.portalUrl}`);
  }

  /** Erases the text the user is typing. Returns the number of rows below the first. */
  #eraseText(): number {
    if (this.#typing === undefined) return 0;
    const { output } = this.#options;
    const { rows } = this.#typing.line.getCursorPos();
    moveCursor(output, 0, -rows);
    cursorTo(output, 0);
    clearScreenDown(output);
    return rows;
  }
}

/** Joins pasted lines, because the text is a single message. A trailing line break is the Enter key, and stays. */
function joinLines(chunk: string): string {
  const text = trimEndOf(chunk, "\r\n");
  return text.replace(/[\r\n]+/g, " ") + chunk.slice(text.length);
}

const openers: Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>> = {
  darwin: ["open"],
  // `start` is a shell builtin. It takes its first quoted argument as a window title.
  win32: ["cmd", "/c", "start", ""],
};

export function openInBrowser(
  url: string,
  system: NodeJS.Platform = process.platform,
  env: NodeJS.ProcessEnv = process.env,
): Promise<boolean> {
  const [command, ...args] = openers[system] ?? ["xdg-open"];
  return new Promise((resolve) => {
    // Detached, because the browser may be a child of the command and must outlive this process.
    const child = spawn(command, [...args, url], { stdio: "ignore", detached: true, env });
    child.once("error", () => resolve(false));
    child.once("exit", (code) => resolve(code === 0));
    child.unref();
  });
}
