import { once } from "node:events";
import type { RequestListener } from "node:http";
import { createServer } from "node:http";
import { onTestFinished } from "vitest";
import type { Finding } from "../../faces/cli.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { type CommandOptions, runCommand } from "../command.ts";

export interface Examination {
  readonly code: number | null;
  readonly findings: readonly Finding[];
  /** Everything that was printed. */
  readonly out: string;
}

/** Runs `service-bot doctor --json` with this environment alone. */
export async function examine(
  env: Record<string, string>,
  {
    cwd = temporaryFolder(),
    flags = [],
    user,
  }: CommandOptions & { readonly flags?: readonly string[] } = {},
): Promise<Examination> {
  const { code, out, err } = await runCommand(["doctor", "--json", ...flags], {
    cwd,
    env,
    user,
  });
  if (err !== "") throw new Error(err);
  const { ok, findings }: { ok: boolean; findings: Finding[] } = JSON.parse(out);
  const failed = findings.some(({ level }) => level === "fail");
  if (ok === failed) throw new Error(`ok is ${ok}, and the findings say otherwise: ${out}`);
  return { code, findings, out };
}

/** What was found in an area, without what is well. */
export function trouble({ findings }: Examination, area: Finding["area"]): readonly Finding[] {
  return findings.filter((finding) => finding.area === area && finding.level !== "ok");
}

/** What a bot needs to know of a platform; its webhook is looked for where nobody listens. */
export function access({
  url,
  apiKey = "sbk_test",
}: {
  readonly url: string;
  readonly apiKey?: string;
}): Record<string, string> {
  return {
    SERVICE_BASE_URL: url,
    SERVICE_API_KEY: apiKey,
    SERVICE_WEBHOOK_SECRET: "whsec_of_the_doctors_tests",
    PORT: "0",
  };
}

/** A server that is gone when the test has finished; its origin. */
export async function serve(answer: RequestListener): Promise<string> {
  const server = createServer(answer).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return `http://127.0.0.1:${address.port}`;
}
