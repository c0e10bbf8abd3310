import { asDoctor } from "../../client/scopes.ts";
import { whyNoAnswer } from "../../platform/webhooks/no-answer.ts";
import { SIGNATURE_HEADER, sign, TOLERANCE_SECONDS } from "../../signature/signature.ts";
import { localWebhookUrl } from "../environment.ts";
import { type Check, type Finding, findingsOf, withConfig } from "./finding.ts";

const { ok, note, fail } = findingsOf("webhook");

/** In ms, for an answer. */
const TIMEOUT_MS = 5_000;

/** In seconds. Twice the tolerance, because either clock may be slightly off. */
const OLD_SECONDS = 2 * TOLERANCE_SECONDS;

const START = "Start the bot, if it should run now: npm run dev, or npm start.";

/** Checks that the webhook answers and refuses forged requests, on this machine and at its public URL. */
export const checkWebhook: Check = withConfig(async (config, { webhook }) => {
  const findings = webhook === undefined ? [] : [await checkPublic(webhook)];
  if (config.delivery === "polling") {
    return [...findings, ok("DELIVERY=polling: no webhook is needed")];
  }
  if (config.port === 0) {
    return [...findings, note("PORT=0 takes any port, so the bot is not looked for", "Set PORT.")];
  }
  return [...findings, await checkLocal(new URL(localWebhookUrl()))];
});

async function checkLocal(url: URL): Promise<Finding> {
  const answer = await forge(url);
  // A bot that is not running yet is not an error.
  return "error" in answer
    ? note(whyNoAnswer(answer.error, url), START)
    : await checkTwice(url, answer);
}

/**
 * Sends an old request too, which the bot must refuse (section 5, rule 7). Otherwise a recorded delivery could be sent
 * again.
 */
async function checkTwice(url: URL, answer: Answer): Promise<Finding> {
  const finding = findingOf(url, answer);
  if (finding.level !== "ok") return finding;
  const old = await forge(url, OLD_SECONDS);
  if ("error" in old || old.status === 400 || old.status === 401) return finding;
  return fail(
    `${url.href} answered a request of ${OLD_SECONDS / 60} min ago with ${old.status}, not with 400`,
    old.status < 300
      ? "Replay protection is off: a recorded delivery could be sent again."
      : "Something in between treats requests differently: let POST through to the bot as it comes.",
  );
}

async function checkPublic(url: URL): Promise<Finding> {
  const answer = await forge(url);
  if ("error" in answer) {
    return fail(
      whyNoAnswer(answer.error, url),
      "Let the name lead to the proxy, its https port be open, and its certificate be trusted.",
    );
  }
  const finding = await checkTwice(url, answer);
  if (finding.level !== "ok" || url.protocol === "https:") return finding;
  return note(
    `${url.href} is not https; the platform delivers to nothing else`,
    "Put a proxy in front that ends TLS: docs/deploy/overview.md.",
  );
}

interface Answer {
  readonly status: number;
  /** Error code in the body of a bot's answer. */
  readonly code: unknown;
}

/** Sends a delivery without events, signed with a random secret. */
async function forge(url: URL, agoSeconds = 0): Promise<Answer | { readonly error: unknown }> {
  const body = '{"events":[]}';
  const at = Date.now() / 1000 - agoSeconds;
  const signature = sign(body, `whsec_${crypto.randomUUID()}`, at);
  try {
    const response = await asDoctor(url.href, {
      method: "POST",
      headers: { "content-type": "application/json", [SIGNATURE_HEADER]: signature },
      body,
      redirect: "manual",
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    return { status: response.status, code: codeIn(await response.text()) };
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
    return ok(`${url.href} answers, and refuses a forged request, of which the bot's log warns`);
  }
  const said = typeof code === "string" ? `${status} ${code}` : `${status}`;
  return fail(
    `${url.href} answered a forged request with ${said}, not with 401`,
    remedyFor(status, code),
  );
}

function remedyFor(status: number, code: unknown): string {
  if (status < 300) return "Something else takes the deliveries there: anybody could send events.";
  if (status < 400) return "The platform follows no redirect: use the address that it leads to.";
  if (code === "SIGNATURE_MISSING" || code === "SIGNATURE_MALFORMED") {
    return "Something in between takes the header X-Service-Signature away: let it through.";
  }
  if (code === "SIGNATURE_STALE") return "The bot's clock is off: let NTP set it.";
  if (code === "NOT_READY") return "The bot has not started yet, or is stopping: try again.";
  if (status === 401) return "Something in between asks for a login: the platform has none.";
  if (status === 404 || status === 405) {
    return "Is this the bot? Compare the port with PORT, and the path with WEBHOOK_PATH and the proxy's.";
  }
  if (status >= 500)
    return "The proxy does not reach the bot, or the bot its database: see its log.";
  return "Something in between refuses the request: let POST through to the bot as it comes.";
}
