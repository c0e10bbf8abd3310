import { asDoctor } from "../../client/scopes.ts";
import { readTextUpTo } from "../../core/bounded-read.ts";
import { pageUrl } from "../../core/manifest.ts";
import { whyNoAnswer } from "../../platform/webhooks/no-answer.ts";
import { markProbe, PROBE_HEADER } from "../../signature/probe.ts";
import { SIGNATURE_HEADER, sign, TOLERANCE_SECONDS } from "../../signature/signature.ts";
import { localWebhookUrl } from "../environment.ts";
import { aboutCertificate } from "./certificate.ts";
import { type Check, type Finding, findingsOf, MAX_ANSWER_BYTES, withConfig } from "./finding.ts";

const { ok, note, fail } = findingsOf("webhook");

const TIMEOUT_MS = 5_000;

/** Age of the old request, in seconds. Twice the tolerance, because either clock may be slightly off. */
const OLD_SECONDS = 2 * TOLERANCE_SECONDS;

const START = "Run `npm run dev` or `npm start`.";

export const checkWebhook: Check = withConfig(async (config, { webhook }) => {
  const secrets = config.webhookSecrets;
  const findings = webhook === undefined ? [] : [await checkPublic({ url: webhook, secrets })];
  if (config.delivery === "polling") {
    return [...findings, ok("DELIVERY=polling: no webhook is needed")];
  }
  if (config.port === 0) {
    return [
      ...findings,
      note("PORT=0 picks a random port, so the doctor cannot find the bot", "Set PORT."),
    ];
  }
  return [...findings, await checkLocal({ url: new URL(localWebhookUrl()), secrets })];
});

interface Target {
  readonly url: URL;
  /** Secrets that sign the marks of the forged requests. */
  readonly secrets: readonly string[];
}

async function checkLocal(target: Target): Promise<Finding> {
  const answer = await forge(target);
  // A bot that is not running yet is not an error.
  return "error" in answer
    ? note(whyNoAnswer(answer.error, target.url), START)
    : await checkTwice(target, answer);
}

/**
 * Also sends an old request, which the bot must reject (section 5 of the platform document, rule 7). Otherwise, a
 * recorded delivery could be sent again.
 */
async function checkTwice(target: Target, answer: Answer): Promise<Finding> {
  const { url } = target;
  const finding = findingOf(url, answer);
  if (finding.level !== "ok") return finding;
  const old = await forge(target, OLD_SECONDS);
  if ("error" in old || old.status === 400 || old.status === 401) return finding;
  return fail(
    `${url.href} returned ${old.status} for a request signed ${OLD_SECONDS / 60} min ago; expected 400`,
    old.status < 300
      ? "Replay protection is off. Check which program serves this URL."
      : "A proxy changes the request. Configure it to forward POST requests unchanged.",
  );
}

async function checkPublic(target: Target): Promise<Finding> {
  const { url } = target;
  const answer = await forge(target);
  if ("error" in answer) {
    const rejected = await aboutCertificate(answer.error, url, "webhook");
    if (rejected !== undefined) return fail(rejected.what, rejected.remedy);
    return fail(
      whyNoAnswer(answer.error, url),
      "Check that the name resolves to the proxy, that port 443 is open, and that the certificate is valid.",
    );
  }
  const finding = await checkTwice(target, answer);
  if (finding.level !== "ok" || url.protocol === "https:") return finding;
  return note(
    `${url.href} is not https, and the platform delivers only to https`,
    `Put a TLS proxy in front of the bot: ${pageUrl("deploy/overview#https")}`,
  );
}

interface Answer {
  readonly status: number;
  readonly code: unknown;
}

/** Sends a request with a wrong signature. Its mark keeps the bot from counting it as a refused delivery. */
async function forge(
  { url, secrets }: Target,
  agoSeconds = 0,
): Promise<Answer | { readonly error: unknown }> {
  const body = '{"events":[]}';
  const now = Date.now() / 1000;
  const signature = sign(body, `whsec_${crypto.randomUUID()}`, now - agoSeconds);
  const mark = markProbe(signature, secrets, now);
  try {
    const response = await asDoctor(url.href, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        [SIGNATURE_HEADER]: signature,
        ...(mark !== undefined && { [PROBE_HEADER]: mark }),
      },
      body,
      redirect: "manual",
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    return {
      status: response.status,
      code: codeIn(await readTextUpTo(response.body, MAX_ANSWER_BYTES)),
    };
  } catch (error) {
    return { error: error instanceof TypeError && error.cause ? error.cause : error };
  }
}

function codeIn(text: string): unknown {
  try {
    return JSON.parse(text)?.error?.code;
  } catch {
    return undefined;
  }
}

function findingOf(url: URL, { status, code }: Answer): Finding {
  if (status === 401 && code === "SIGNATURE_MISMATCH") {
    return ok(`${url.href} rejected a forged request`);
  }
  const said = typeof code === "string" ? `${status} ${code}` : `${status}`;
  return fail(
    `${url.href} returned ${said} for a forged request; expected 401`,
    remedyFor(status, code),
  );
}

function remedyFor(status: number, code: unknown): string {
  if (status < 300)
    return "Another program serves this URL, or it does not check signatures. Check the port and the path.";
  if (status < 400)
    return "The platform does not follow redirects. Use the URL the redirect points to.";
  if (code === "SIGNATURE_MISSING" || code === "SIGNATURE_MALFORMED") {
    return "A proxy strips the X-Service-Signature header. Configure it to forward the header.";
  }
  if (code === "SIGNATURE_STALE") return "The bot's clock is wrong. Synchronize it with NTP.";
  if (code === "NOT_READY") return "The bot is starting or stopping. Try again.";
  if (status === 401)
    return "A proxy requires a login. Configure it to forward the platform's requests without one.";
  if (status === 404 || status === 405) {
    return "Is this the bot? Compare the port with PORT, and the path with WEBHOOK_PATH and the proxy's path.";
  }
  if (status >= 500)
    return "The proxy cannot reach the bot, or the bot cannot reach its database. Read the bot's log.";
  return "A proxy refuses the request. Configure it to forward POST requests unchanged.";
}
