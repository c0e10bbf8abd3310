import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { within } from "../demo/process.ts";

export class Dev {
  readonly portal: string;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, portal: string) {
    this.#child = child;
    this.portal = portal;
  }

  static async start(cwd: string, env: Readonly<Record<string, string | undefined>>): Promise<Dev> {
    const command = ["node_modules/service-bot/dist/cli/main.js", "dev"];
    const stdio = ["ignore", "pipe", "inherit"] as const;
    const child = spawn(process.execPath, command, { cwd, env, stdio: [...stdio] });
    const ready = Promise.withResolvers<string>();
    let portal = "";
    createInterface({ input: child.stdout }).on("line", (line) => {
      portal ||= /portal +(http\S+)/.exec(line)?.[1] ?? "";
      if (line.includes("bot ready")) ready.resolve(portal);
    });
    child.once("exit", (code) => ready.reject(new Error(`service-bot dev ended with ${code}`)));
    return new Dev(child, await within(ready.promise, () => "service-bot dev is not ready"));
  }

  async stop(): Promise<void> {
    const ended = once(this.#child, "exit");
    this.#child.kill("SIGTERM");
    await ended;
  }
}
