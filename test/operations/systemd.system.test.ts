import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { TestProcess } from "../support/process.ts";
import { reservePort } from "../support/reserve-port.ts";
import { isInstalled } from "../support/server-path.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { longestStopMs, operations, root } from "./code.ts";
import { Unit } from "./unit.ts";

const file = join(operations, "service-bot@.service");
const text = readFileSync(file, "utf8");
const unit = new Unit(file);

const missing = !isInstalled(["systemd-analyze", "--version"]);
if (missing) process.stderr.write("skipped without systemd-analyze: apt-get install systemd\n");
const noTrace = missing || !isInstalled(["strace", "--version"]);
if (noTrace) process.stderr.write("skipped without strace: apt-get install strace\n");

describe("the unit and the code agree", () => {
  test("a bot has the time to stop that it may take, and some more", () => {
    const [, seconds] = /^(\d+)s$/.exec(unit.value("TimeoutStopSec") ?? "") ?? [];
    expect(Number(seconds) * 1000).toBeGreaterThanOrEqual(longestStopMs() + 5_000);
    expect(unit.value("KillSignal")).toBe("SIGTERM");
  });

  test("it is started as the starter starts it", () => {
    const manifest = JSON.parse(
      readFileSync(join(root, "templates/starter/_package.json"), "utf8"),
    );
    expect(unit.value("ExecStart")).toBe(`/usr/bin/${manifest.scripts.start}`);
  });

  test("a configuration that is wrong ends with the code after which it is not started again", async () => {
    const started = new TestProcess(["--import", join(root, "src/env.ts"), "versioned-bot.ts"], {
      cwd: join(root, "test/e2e"),
      bareEnv: true,
      env: { SERVICE_BASE_URL: "nowhere" },
    });
    const { code } = await started.exited;
    expect(code).not.toBe(0);
    expect(unit.value("RestartPreventExitStatus")).toBe(String(code));
    expect(unit.value("Restart")).toBe("on-failure");
  });

  test("all that can be written to is where its memory is", () => {
    expect(unit.value("ProtectSystem")).toBe("strict");
    expect(unit.value("StateDirectory")).toBe("%i");
    expect(unit.all("ReadWritePaths")).toEqual([]);
    expect(text).toContain("DATABASE_URL=file:/var/lib/NAME/bot.db");
  });

  test("its memory is bounded, well above what a bot takes", () => {
    expect(unit.value("MemoryMax")).toBe("512M");
  });

  test("V8 may make code", () => {
    expect(unit.value("MemoryDenyWriteExecute")).toBeUndefined();
  });
});

describe.skipIf(missing)("what systemd says", () => {
  test("it has no complaint about the unit", () => {
    expect(verify(text)).toBe("");
  });

  test.each([
    ["a setting that it does not know", "PrivateTmp=yes", "PrivateTemp=yes", "PrivateTemp"],
    ["a value that is none", "RestartSec=2s", "RestartSec=soon", "soon"],
    ["a group of calls that is none", "@system-service", "@systemservice", "@systemservice"],
  ])("it would have one about %s", (_, from, to, complaint) => {
    expect(text).toContain(from);
    expect(verify(text.replace(from, to))).toContain(complaint);
  });

  test("the unit grants few permissions", () => {
    expect(exposure(text)).toBeLessThanOrEqual(2);
    expect(exposure(text.replace(/^CapabilityBoundingSet=.*\n/m, ""))).toBeGreaterThan(2);
  });
});

/** Another user if the tests run as root, because SQLite makes more system calls as root. */
const user = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : undefined;

test.skipIf(noTrace)(
  "a bot needs no system call, and no kind of socket, that the unit forbids",
  async () => {
    const folder = temporaryFolder();
    chmodSync(folder, 0o777);
    const port = String(await reservePort());
    const trace = join(folder, "trace");
    const command = ["-f", "-qq", "-o", trace, process.execPath, "versioned-bot.ts"];
    const bot = new TestProcess(command, {
      command: "strace",
      cwd: join(root, "test/e2e"),
      bareEnv: true,
      user,
      env: {
        NODE_DISABLE_COMPILE_CACHE: "1",
        SERVICE_BASE_URL: "http://localhost:1",
        SERVICE_API_KEY: "sbk_any",
        SERVICE_WEBHOOK_SECRET: "whsec_any_secret_that_is_long_enough",
        DATABASE_URL: `file:${join(folder, "bot.db")}`,
        PORT: port,
      },
    });
    await bot.message("ready");
    expect((await fetch(`http://127.0.0.1:${port}/readyz`)).status).toBe(200);
    const [pid = ""] = /^\d+/.exec(readFileSync(trace, "utf8")) ?? [];
    process.kill(Number(pid), "SIGTERM");
    expect(await bot.exited).toEqual({ code: 0, signal: null });
    const traced = readFileSync(trace, "utf8");
    const used = new Set([...traced.matchAll(/^\d+ +(\w+)\(/gm)].map(([, name = ""]) => name));
    const allowed = allowedCalls();
    expect(used).toContain("epoll_ctl");
    expect(allowed).not.toContain("reboot");
    expect([...used].filter((name) => !allowed.has(name))).toEqual([]);
    const families = new Set([...traced.matchAll(/socket\((AF_\w+)/g)].map(([, name]) => name));
    // getaddrinfo asks the kernel which interfaces exist, and works without an answer.
    families.delete("AF_NETLINK");
    const permitted = unit.value("RestrictAddressFamilies")?.split(" ");
    for (const family of families) expect(permitted).toContain(family);
  },
);

function verify(content: string): string {
  const { stdout, stderr } = spawnSync("systemd-analyze", ["verify", written(content)], {
    encoding: "utf8",
  });
  // Ignore findings about the machine's own units, and about the path of Node.
  return `${stdout}${stderr}`
    .split("\n")
    .filter((line) => line.includes("service-bot@") && !line.includes("/usr/bin/node"))
    .join("\n");
}

/** Returns the exposure level, from 0 (safe) to 10. */
function exposure(content: string): number {
  const args = ["security", "--offline=true", "--no-pager", written(content)];
  const { stdout } = spawnSync("systemd-analyze", args, { encoding: "utf8" });
  return Number(/exposure level for .+: ([\d.]+)/.exec(stdout)?.[1]);
}

function written(content: string): string {
  const folder = mkdtempSync(join(tmpdir(), "unit-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, "service-bot@.service");
  writeFileSync(path, content);
  return path;
}

function allowedCalls(): ReadonlySet<string> {
  const allowed = new Set<string>();
  for (const filter of unit.all("SystemCallFilter")) {
    const groups = filter.replace(/^~/, "").split(" ").flatMap(callsIn);
    for (const name of groups) filter.startsWith("~") ? allowed.delete(name) : allowed.add(name);
  }
  return allowed;
}

function callsIn(name: string): string[] {
  if (!name.startsWith("@")) return [name];
  const listed = execFileSync("systemd-analyze", ["syscall-filter", name], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
  const members = listed
    .split("\n")
    .slice(1)
    .map((line) => line.trim());
  return members.filter((line) => line !== "" && !line.startsWith("#")).flatMap(callsIn);
}
