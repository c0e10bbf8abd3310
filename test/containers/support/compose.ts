import { execFile, execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { onTestFailed } from "vitest";
import { TestProcess } from "../../support/process.ts";
import { scaffoldedBot, withoutBotVariables } from "../../support/scaffolded.ts";
import type { Docker } from "../engine/docker.ts";

const runFile = promisify(execFile);

/** Caddy signs the certificate for this domain with its own authority. */
export const DOMAIN = "localhost";

/** Replaces `docker compose`, because Debian 12 only has Compose 1, whose separate command takes the same arguments. */
const STAND_IN = `#!/bin/sh
[ "$1" = compose ] || exec "$DOCKER" "$@"
shift
exec docker-compose "$@"
`;

export class ComposeProject {
  readonly dir: string;
  readonly #docker: Docker;
  readonly #bin: string;

  private constructor(dir: string, bin: string, docker: Docker) {
    this.dir = dir;
    this.#bin = bin;
    this.#docker = docker;
  }

  /** Scaffolds a bot from this checkout. Its packages are installed only in the image. */
  static async scaffold(
    docker: Docker,
    folder: string,
    name: string,
    flags: readonly string[] = [],
  ): Promise<ComposeProject> {
    const lockOnly = { npm_config_package_lock_only: "true" };
    const { dir } = await scaffoldedBot(folder, name, ["--no-git", ...flags], lockOnly);
    unpin(dir);
    const bin = join(folder, "stand-ins");
    mkdirSync(bin, { recursive: true });
    writeFileSync(join(bin, "docker"), STAND_IN);
    chmodSync(join(bin, "docker"), 0o755);
    return new ComposeProject(dir, bin, docker);
  }

  configure(values: Readonly<Record<string, string>>): void {
    const file = join(this.dir, ".env");
    const text = Object.entries(values).reduce(
      (before, [name, value]) => {
        const line = new RegExp(`^#?${name}=.*$`, "m");
        return line.test(before)
          ? before.replace(line, () => `${name}=${value}`)
          : `${before}${name}=${value}\n`;
      },
      readFileSync(file, "utf8"),
    );
    writeFileSync(file, text);
  }

  async type(lines: string): Promise<string> {
    const { stdout } = await runFile("sh", ["-euc", lines], {
      cwd: this.dir,
      env: this.#env(),
      maxBuffer: 64 * 1024 * 1024,
    });
    return stdout;
  }

  /** Runs a command that does not exit on its own. Ends it with the test. */
  follow(line: string): TestProcess {
    const options = { command: "sh", cwd: this.dir, env: this.#env() };
    return new TestProcess(["-euc", `exec ${line}`], options);
  }

  async container(service: string): Promise<string> {
    return (await this.type(`docker compose ps --quiet ${service}`)).trim();
  }

  explainFailure(): void {
    onTestFailed(async () => {
      process.stderr.write(await this.type("docker compose logs --no-color --tail 20"));
    });
  }

  #env(): Record<string, string> {
    const path = process.env["PATH"] ?? "";
    const docker = execFileSync("sh", ["-c", "command -v docker"], { encoding: "utf8" }).trim();
    const own = { DOCKER: docker, PATH: `${this.#bin}:${path}` };
    return { ...withoutBotVariables(), ...this.#docker.env, ...own };
  }

  async remove(): Promise<void> {
    await this.type(`BOT_DOMAIN=${DOMAIN} docker compose down --volumes --remove-orphans`);
  }
}

/** Removes the digests of images, because these tests build images with the same tags. */
function unpin(dir: string): void {
  const files = readdirSync(dir).filter((file) => /^Dockerfile$|^compose.*\.yaml$/.test(file));
  for (const file of files) {
    const path = join(dir, file);
    writeFileSync(path, readFileSync(path, "utf8").replace(/@sha256:[0-9a-f]{64}/g, ""));
  }
}
