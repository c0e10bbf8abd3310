import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { run, tail } from "../../src/create/io.ts";
import { reservePort } from "../../test/support/reserve-port.ts";
import { Server } from "../../test/support/server.ts";
import { packBoth } from "../pack/packages.ts";
import type { Packed } from "../pack/stage.ts";
import { answers } from "./answers.ts";

/** The registry of main.ts, in a process that trusts the certificate authorities that npm trusts. */
export class Registry {
  readonly url: string;
  readonly #folder: string;
  readonly #server: Server;

  private constructor(url: string, folder: string, server: Server) {
    this.url = url;
    this.#folder = folder;
    this.#server = server;
  }

  static async start(): Promise<Registry> {
    const folder = await mkdtemp(join(tmpdir(), "service-bot-registry-"));
    const port = await reservePort();
    const program = join(import.meta.dirname, "main.ts");
    const command = [process.execPath, program, String(port), await upstream(folder)];
    const server = new Server(command, {
      cwd: folder,
      data: folder,
      env: { ...(await trusted(folder)), ...process.env },
    });
    const registry = new Registry(`http://127.0.0.1:${port}/`, folder, server);
    if (await answers(`${registry.url}-/ping`, () => !server.hasEnded)) return registry;
    await registry.close();
    throw new Error(`The registry did not start:\n${tail(server.output())}`);
  }

  async publish({ path }: Packed): Promise<void> {
    const userconfig = join(this.#folder, "npmrc");
    // npm requires a token, although this registry accepts packages from anyone.
    await writeFile(userconfig, `${this.url.slice("http:".length)}:_authToken=nobody\n`);
    const args = ["publish", path, "--registry", this.url, "--userconfig", userconfig];
    const { code, output } = await run("npm", args, { cwd: this.#folder, env: process.env });
    if (code !== 0) throw new Error(`${path} cannot be published:\n${tail(output)}`);
  }

  async close(): Promise<void> {
    await this.#server.end("SIGTERM");
    await rm(this.#folder, { recursive: true, force: true });
  }
}

export async function publishBoth(): Promise<{
  readonly registry: Registry;
  readonly packed: readonly Packed[];
}> {
  const folder = await mkdtemp(join(tmpdir(), "service-bot-release-"));
  try {
    const packed = await packBoth(folder);
    const registry = await Registry.start();
    try {
      for (const one of packed) await registry.publish(one);
    } catch (error) {
      await registry.close();
      throw error;
    }
    return { registry, packed };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function upstream(cwd: string): Promise<string> {
  const registry = await npmSetting("registry", cwd);
  if (registry === undefined) throw new Error("npm has no registry setting.");
  return registry;
}

/** npm may trust a private certificate authority for its registry. Node needs the same file. */
async function trusted(cwd: string): Promise<NodeJS.ProcessEnv> {
  const cafile = await npmSetting("cafile", cwd);
  return cafile === undefined ? {} : { NODE_EXTRA_CA_CERTS: cafile };
}

async function npmSetting(name: string, cwd: string): Promise<string | undefined> {
  const args = ["config", "get", name, "--loglevel=error"];
  const { code, output } = await run("npm", args, { cwd, env: process.env });
  if (code !== 0) throw new Error(`Cannot read the npm setting ${name}:\n${tail(output)}`);
  const value = output.trim();
  return value === "" || value === "null" || value === "undefined" ? undefined : value;
}
