import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";

/** For each file: a damaged program may do anything, also never end. */
const DEADLINE_MS = 120_000;

/** Waits for what never comes end earlier than usual, in milliseconds. */
const TEST_TIMEOUT_MS = 8_000;

interface Report {
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly message: string;
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[];
  }[];
}

/** Runs test files one after the other. Resolves to the name of the first test that fails, if one does. */
export async function firstFailure(
  folder: string,
  files: readonly string[],
): Promise<string | undefined> {
  for (const file of files) {
    const failure = await failureIn(folder, [file]);
    if (failure !== undefined) return failure;
  }
  return undefined;
}

/** The same with all of them at once: whatever fails first. */
export async function failureIn(
  folder: string,
  files: readonly string[],
): Promise<string | undefined> {
  const report = join(folder, "report.json");
  rmSync(report, { force: true });
  const args = ["run", ...files, "--bail=1", "--reporter=json", `--outputFile=${report}`];
  const limits = [`--testTimeout=${TEST_TIMEOUT_MS}`, "--maxWorkers=1"];
  const vitest = join(folder, "node_modules", "vitest", "vitest.mjs");
  const child = spawn(process.execPath, [vitest, ...args, ...limits], {
    cwd: folder,
    stdio: "ignore",
    detached: true,
  });
  const deadlineMs = DEADLINE_MS * files.length;
  let late = false;
  const deadline = setTimeout(() => {
    late = true;
    // With whatever it has started.
    if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
  }, deadlineMs);
  const [code] = await once(child, "exit");
  clearTimeout(deadline);
  if (late) return `no end within ${deadlineMs / 1000} s`;
  if (code === 0) return undefined;
  return nameOfFailure(report);
}

function nameOfFailure(file: string): string {
  if (!existsSync(file)) return "the tests cannot be run";
  const { testResults }: Report = JSON.parse(readFileSync(file, "utf8"));
  for (const { assertionResults } of testResults) {
    const failed = assertionResults.find(({ status }) => status === "failed");
    if (failed !== undefined) return failed.fullName;
  }
  const broken = testResults.find(({ status }) => status === "failed");
  return broken === undefined ? "an error outside of the tests" : `error: ${broken.message}`;
}
