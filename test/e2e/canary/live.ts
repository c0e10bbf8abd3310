import { expect } from "vitest";
import { expectQuiet } from "./expect-quiet.ts";
import { askForEverything, askForTheEnd, showAll, showAndDiscard } from "./operator.ts";
import { crash, deliver, lookAtPages, meetEverything } from "./outcomes.ts";
import { type Listening, type Place, phrase, Stage } from "./stage.ts";

/** The bot must log all of these during the run. */
const told = [
  ...["SIGNATURE_MISMATCH", "SIGNATURE_MISSING", "SIGNATURE_MALFORMED", "SIGNATURE_STALE"],
  ...["BODY_INVALID", "TOO_LARGE", "VALIDATION", "STEP_UNCERTAIN", "HANDLER_TIMEOUT", "GAVE_UP"],
  ...["HANDLER_CRASHED", "API_INVALID_RESPONSE", "API_REDIRECT", "AWAY", "BROKEN"],
  ...["an onError observer failed", "the onSwitch option failed", "cannot understand"],
  ...["X-Service-Event-Count differs", "signed with an old secret", "they are ["],
  ...["could not read the event log; retrying", "event postponed; attempt not counted"],
  ...["the platform rejects the token", "stopped", "must begin with whsec_"],
  ...[
    '"lastPollError"',
    'service_bot_token_refused_total{status="401"} 1',
    '"name":"process dm.message"',
  ],
];

/**
 * Puts a bot through every situation, while a client fetches all of its pages and an operator runs all commands.
 * Expects that nothing leaks.
 *
 * @param failStore makes the store fail, and then repairs it
 */
export async function live(
  place: Place,
  failStore: (it: Stage, last: Listening) => Promise<void> = async () => undefined,
): Promise<Stage> {
  const it = await Stage.set(place);
  const first = await it.listening(it.launch());
  await meetEverything(it, first);
  const last = await crash(it, first.bot, [() => showAndDiscard(it), () => askForEverything(it)]);
  // Spoil the token of only one request. The bot's next request, seconds later, succeeds.
  void it.proxy.spoil("token", phrase(it.songs.message));
  await last.bot.message(
    "the platform rejects the token; correct SERVICE_API_KEY and restart (events wait)",
  );
  expect(await deliver(it, last.url)).toContain(401);
  await lookAtPages(it, last);
  await failStore(it, last);
  await askForTheEnd(it);
  await showAll(it, 15);
  expect(await last.bot.end("SIGTERM")).toMatchObject({ code: 0 });
  expectQuiet(it, told);
  return it;
}
