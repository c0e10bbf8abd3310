import { spawn } from "node:child_process";
import { Child } from "../../test/support/child.ts";
import { within } from "../demo/process.ts";

/** `service-bot dev` in a bot's folder. */
export class Dev extends Child {
  static async start(cwd: string, env: Readonly<Record<string, string | undefined>>): Promise<Dev> {
    const command = ["node_modules/service-bot/dist/cli/main.js", "dev"];
    const stdio = ["ignore", "pipe", "inherit"] as const;
    const dev = new Dev(spawn(process.execPath, command, { cwd, env, stdio: [...stdio] }));
    const ready = dev.line((line) => line.includes("bot ready"));
    await within(ready, () => "service-bot dev is not ready");
    return dev;
  }

  get portal(): string {
    return /portal +(http\S+)/.exec(this.output())?.[1] ?? "";
  }

  async stop(): Promise<void> {
    this.kill("SIGTERM");
    await this.exited;
  }
}
