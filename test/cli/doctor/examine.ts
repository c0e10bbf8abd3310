import type { RequestListener } from "node:http";
import { createServer } from "node:http";
import type { Finding } from "../../faces/cli.ts";
import { listenUntilEnd } from "../../support/listen.ts";
import { type CommandOptions, runCommand } from "../command.ts";

export interface Examination {
  readonly code: number | null;
  readonly findings: readonly Finding[];
  readonly out: string;
}

export async function examine(
  env: Record<string, string>,
  { flags = [], ...options }: CommandOptions & { readonly flags?: readonly string[] } = {},
): Promise<Examination> {
  return read(await runCommand(["doctor", "--json", ...flags], { ...options, env }));
}

export function read(ended: {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}): Examination {
  const { code, out, err } = ended;
  if (err !== "") throw new Error(err);
  const { ok, findings }: { ok: boolean; findings: Finding[] } = JSON.parse(out);
  const failed = findings.some(({ level }) => level === "fail");
  if (ok === failed || code !== (failed ? 1 : 0)) {
    throw new Error(`ok is ${ok}, the exit code ${code}, and the findings say otherwise: ${out}`);
  }
  return { code, findings, out };
}

export function trouble({ findings }: Examination, area: Finding["area"]): readonly Finding[] {
  return findings.filter((finding) => finding.area === area && finding.level !== "ok");
}

/** Returns the variables of a bot that can access a platform. No one is listening on its webhook port. */
export function access({
  url,
  apiKey = "sbk_test",
  webhookSecret = "whsec_of_the_doctors_tests",
}: {
  readonly url: string;
  readonly apiKey?: string;
  readonly webhookSecret?: string;
}): Record<string, string> {
  return {
    SERVICE_BASE_URL: url,
    SERVICE_API_KEY: apiKey,
    SERVICE_WEBHOOK_SECRET: webhookSecret,
    PORT: "0",
  };
}

/** Returns access to a platform that rejects the token immediately. The doctor still makes its other checks. */
export async function refusingPlatform(): Promise<Record<string, string>> {
  return access({ url: await serve((_request, response) => void response.writeHead(401).end()) });
}

export async function serve(answer: RequestListener): Promise<string> {
  return (await listenUntilEnd(createServer(answer))).url;
}
