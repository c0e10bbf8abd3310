import { execFile, execFileSync } from "node:child_process";
import { promisify } from "node:util";

const runFile = promisify(execFile);

/** In bytes. A container under load logs more than Node reads by default. */
const MAX_OUTPUT = 256 * 1024 * 1024;

/** The `docker` command, for one engine. */
export class Docker {
  /** The environment that leads to the engine. */
  readonly env: Readonly<Record<string, string>>;

  /** @param host address of the engine. `undefined`: where the command looks by itself */
  constructor(host: string | undefined) {
    // The builder of the engine itself: the newer one is a plugin, which Debian does not have.
    this.env = { DOCKER_BUILDKIT: "0", ...(host === undefined ? {} : { DOCKER_HOST: host }) };
  }

  /** Runs a command. Resolves to its standard output without white space around. @throws with its error output */
  async run(...args: readonly string[]): Promise<string> {
    const env = { ...process.env, ...this.env };
    const { stdout } = await runFile("docker", args, { env, maxBuffer: MAX_OUTPUT });
    return stdout.trim();
  }

  /** Runs a command synchronously. @throws with its error output */
  runNow(...args: readonly string[]): string {
    const env = { ...process.env, ...this.env };
    return execFileSync("docker", args, { env, stdio: "pipe", encoding: "utf8" }).trim();
  }

  /** Resolves to standard output and error of a container, a line each. */
  async logs(container: string): Promise<string[]> {
    const env = { ...process.env, ...this.env };
    const { stdout, stderr } = await runFile("docker", ["logs", container], {
      env,
      maxBuffer: MAX_OUTPUT,
    });
    return `${stdout}${stderr}`.split("\n");
  }

  /** Resolves to a part of what the engine knows of an image or a container. */
  async inspect<T>(name: string, template = "json ."): Promise<T> {
    return JSON.parse(await this.run("inspect", "--format", `{{${template}}}`, name));
  }

  /** True if the command ends with 0. */
  async succeeds(...args: readonly string[]): Promise<boolean> {
    return await this.run(...args).then(
      () => true,
      () => false,
    );
  }
}
