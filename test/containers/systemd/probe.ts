// Replaces a bot's src/main.ts. Attempts operations that no bot needs, and prints each result as one line of JSON.
import { execFileSync } from "node:child_process";
import { chmodSync, readdirSync, readFileSync, writeFileSync } from "node:fs";

/** Runs Perl. The exit code is the errno, or 0 if the call succeeds. */
const perl = (code: string) =>
  execFileSync("perl", ["-MSocket", "-e", `${code} or exit($!+0)`], { stdio: "pipe" });

const calls = { x64: { ptrace: 101, unshare: 272 }, arm64: { ptrace: 117, unshare: 97 } };
const { ptrace, unshare } = calls[process.arch === "arm64" ? "arm64" : "x64"];

const attempts: Readonly<Record<string, () => void>> = {
  "write to its own folder": () => writeFileSync("written", ""),
  "read the homes": () => readdirSync("/home/ada"),
  "read process 1": () => readFileSync("/proc/1/cmdline"),
  "write to the kernel's settings": () => writeFileSync("/proc/sys/kernel/domainname", "x"),
  "open a raw socket": () => perl("socket(my $s, AF_INET, SOCK_RAW, 1)"),
  "open a socket of the kernel": () => perl("socket(my $s, 16, SOCK_RAW, 0)"),
  // PTRACE_TRACEME.
  "be traced": () => perl(`syscall(${ptrace}, 0, 0, 0, 0) == 0`),
  // CLONE_NEWUSER.
  "make a namespace": () => perl(`syscall(${unshare}, 0x10000000) == 0`),
  "make a program of its rights": () => {
    writeFileSync("/tmp/program", "");
    chmodSync("/tmp/program", 0o4755);
  },
};

const results = Object.entries(attempts).map(([name, attempt]) => {
  try {
    attempt();
    return [name, "done"];
  } catch {
    return [name, "refused"];
  }
});
process.stdout.write(`${JSON.stringify(Object.fromEntries(results))}\n`);

// Ignore SIGTERM when running as a service.
if (!process.argv.includes("--once")) {
  process.on("SIGTERM", () => undefined);
  setInterval(() => undefined, 60_000);
}
