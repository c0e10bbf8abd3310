import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { promisify } from "node:util";
import { isInstalled, SERVER_PATH } from "../../support/server-path.ts";
import type { Docker } from "../engine/docker.ts";
import { CACHE } from "../engine/engine.ts";
import { makeMachineImage } from "../engine/images.ts";

const runFile = promisify(execFile);

const BOOT_TIMEOUT_MS = 60_000;
const PROPERTY_TIMEOUT_MS = 60_000;
const LOOK_INTERVAL_MS = 200;

/** In bytes. A unit's journal exceeds Node's default. */
const MAX_OUTPUT = 64 * 1024 * 1024;

/** SIGRTMIN+4. As process 1, systemd powers off on this signal. */
const POWER_OFF = "-RTMIN+4";

export function whyNoMachine(): string | undefined {
  const needed = [
    ["systemd-nspawn", "--version"],
    ["nsenter", "--version"],
  ] as const;
  const missing = needed.filter((one) => !isInstalled(one)).map(([command]) => command);
  if (missing.length === 0) return undefined;
  const install = "apt-get install --no-install-recommends systemd-container util-linux";
  return `the systemd tests are skipped: there is no ${missing.join(" and ")} (Debian: ${install})`;
}

/** Debian with systemd as process 1, in a systemd-nspawn container that shares this machine's network. */
export class Machine {
  readonly #folder: string;
  readonly #image: string;
  #nspawn: ChildProcess | undefined;
  /** Process id of the machine's init process, on this host. */
  #init = "";

  private constructor(folder: string, image: string) {
    this.#folder = folder;
    this.#image = image;
  }

  static async create(docker: Docker): Promise<Machine> {
    const image = await filesOf(docker, await makeMachineImage(docker));
    const folder = mkdtempSync(join(CACHE, "systemd-"));
    for (const name of ["root", "upper", "work"]) mkdirSync(join(folder, name));
    return new Machine(folder, image);
  }

  /**
   * Resolves once systemd has started all units.
   *
   * @param shown host folders to mount read-only, by their paths in the machine
   * @throws after the timeout
   */
  async boot(shown: Readonly<Record<string, string>>): Promise<void> {
    const log = join(this.#folder, "console.log");
    const output = openSync(log, "w");
    const path = (name: string) => join(this.#folder, name);
    const layers = `lowerdir=${this.#image},upperdir=${path("upper")},workdir=${path("work")}`;
    const mount = `mount -t overlay overlay -o ${layers} ${path("root")}`;
    const binds = Object.entries(shown).map(([there, here]) => `--bind-ro=${here}:${there}`);
    // Use neither a unit nor registration, because both need systemd on the host.
    const flags = ["--quiet", "--keep-unit", "--register=no", `--directory=${path("root")}`];
    // With its own mount namespace, the mount disappears when the machine ends.
    this.#nspawn = spawn(
      "unshare",
      [
        "--mount",
        "sh",
        "-euc",
        `${mount}; exec systemd-nspawn "$@"`,
        "sh",
        ...flags,
        ...binds,
        "--boot",
      ],
      { stdio: ["ignore", output, output], env: { ...process.env, PATH: SERVER_PATH } },
    );
    const deadline = performance.now() + BOOT_TIMEOUT_MS;
    for (let state = ""; state !== "running"; state = await this.#state()) {
      const failed = state === "degraded" || this.#nspawn.exitCode !== null;
      if (failed || performance.now() > deadline) {
        throw new Error(`systemd is not running:\n${readFileSync(log, "utf8").slice(-4_000)}`);
      }
      await wait(LOOK_INTERVAL_MS);
    }
  }

  command(line: string, folder = "/root"): [string, ...string[]] {
    const into = [
      "--target",
      this.#init,
      "--mount",
      "--uts",
      "--ipc",
      "--pid",
      "--cgroup",
      "--root",
    ];
    const path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
    const env = ["env", "-i", `PATH=${path}`, "HOME=/root", "LANG=C.UTF-8"];
    return ["nsenter", ...into, ...env, "sh", "-euc", `cd ${folder}\n${line}`];
  }

  /**
   * Runs a shell line in the machine as root. Resolves to its stdout.
   *
   * @throws with its stderr
   */
  async type(line: string, folder?: string): Promise<string> {
    const [command, ...args] = this.command(line, folder);
    const env = { ...process.env, PATH: SERVER_PATH };
    const { stdout } = await runFile(command, args, { env, maxBuffer: MAX_OUTPUT });
    return stdout.trim();
  }

  async property(unit: string, name: string): Promise<string> {
    return await this.type(`systemctl show --value --property ${name} ${unit}`);
  }

  async until(unit: string, name: string, value: string): Promise<void> {
    const deadline = performance.now() + PROPERTY_TIMEOUT_MS;
    for (;;) {
      const now = await this.property(unit, name);
      if (now === value) return;
      if (performance.now() > deadline) {
        throw new Error(`${name} of ${unit} is ${now}, not ${value}:\n${await this.journal(unit)}`);
      }
      await wait(LOOK_INTERVAL_MS);
    }
  }

  async journal(unit: string): Promise<string> {
    return await this.type(`journalctl --unit ${unit} --output cat --no-pager`);
  }

  async powerOff(): Promise<void> {
    const nspawn = this.#nspawn;
    if (nspawn === undefined || nspawn.exitCode !== null) return;
    const exited = once(nspawn, "exit");
    if (this.#init === "") nspawn.kill("SIGKILL");
    else await runFile("kill", [POWER_OFF, this.#init]);
    await exited;
    this.#init = "";
  }

  async remove(): Promise<void> {
    await this.powerOff();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #state(): Promise<string> {
    try {
      const children = `/proc/${this.#nspawn?.pid}/task/${this.#nspawn?.pid}/children`;
      this.#init = readFileSync(children, "utf8").trim().split(" ")[0] ?? "";
      // The command exits with code 1 unless the state is "running".
      return this.#init === "" ? "" : await this.type("systemctl is-system-running || true");
    } catch {
      return "";
    }
  }
}

async function filesOf(docker: Docker, image: string): Promise<string> {
  const id = await docker.inspect<string>(image, "json .Id");
  const folder = join(CACHE, `machine-${id.slice(-16)}`);
  if (existsSync(folder)) return folder;
  for (const name of readdirSync(CACHE).filter((name) => name.startsWith("machine-"))) {
    rmSync(join(CACHE, name), { recursive: true });
  }
  const unfinished = mkdtempSync(join(CACHE, "machine-"));
  chmodSync(unfinished, 0o755);
  const container = await docker.run("create", image);
  const copy = `docker export ${container} | tar --extract --numeric-owner --directory ${unfinished}`;
  try {
    await runFile("sh", ["-c", copy], { env: { ...process.env, ...docker.env } });
  } finally {
    await docker.run("rm", container);
  }
  renameSync(unfinished, folder);
  return folder;
}
