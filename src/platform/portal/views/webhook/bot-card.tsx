import { control } from "../../api/control.ts";
import { ticking } from "../../live/second.ts";
import { useLive } from "../../live/use-live.ts";
import { Badge, Failure } from "../../parts/bits.tsx";
import { duration } from "../../parts/duration.ts";
import { Action } from "../../parts/form.tsx";
import { BotFacts } from "./bot-facts.tsx";
import { readBotStatus } from "./bot-status.ts";
import { modeText, warningsOf } from "./bot-warnings.ts";

/** In ms. The bot keeps each report for a second, so a sooner reading would be the one before the change. */
const SETTLE_MS = 1_100;

async function read() {
  const view = await control.botView();
  return { view, status: readBotStatus(view.status), readAt: Date.now() };
}

/** The bot as it sees itself: what `GET /readyz?verbose` of it says. */
export function BotCard({ username }: { readonly username: string }) {
  const { data, error, reload } = useLive(read, {
    key: username,
    // What the bot makes of an event comes after it.
    concerns: ({ kind }) => kind !== "event",
    settleMs: SETTLE_MS,
  });
  return (
    <section class="card" aria-labelledby="bot-view">
      <div class="webhook-bot-head">
        <h2 id="bot-view">What the bot says</h2>
        {data !== undefined && <Age since={data.readAt} />}
        <Action run={reload} label="Ask again what the bot says" tone="quiet">
          Ask again
        </Action>
      </div>
      {error !== undefined && <Failure error={error} retry={reload} />}
      {data?.status === undefined ? (
        data !== undefined && <Unreachable url={data.view.url} error={data.view.error} />
      ) : (
        <>
          <p>
            <Badge tone={data.status.mode === "polling" ? "warn" : "good"}>
              {data.status.mode}
            </Badge>{" "}
            {modeText(data.status.mode)}
          </p>
          <Warnings texts={warningsOf(data.status)} />
          <BotFacts status={data.status} url={data.view.url} />
        </>
      )}
    </section>
  );
}

function Warnings({ texts }: { readonly texts: readonly string[] }) {
  if (texts.length === 0) return null;
  return (
    <ul class="note warn">
      {texts.map((text) => (
        <li key={text}>{text}</li>
      ))}
    </ul>
  );
}

interface UnreachableProps {
  readonly url: string | null;
  readonly error: string | undefined;
}

function Unreachable({ url, error }: UnreachableProps) {
  return (
    <div class="note">
      <p>
        <strong>The bot does not tell its status{url === null ? "" : ` at ${url}`}.</strong>
      </p>
      <p>
        {error ??
          "What answers there is no service-bot. The webhook works all the same; only this card stays empty."}
      </p>
    </div>
  );
}

/** How old what is shown is. */
function Age({ since }: { readonly since: number }) {
  const old = Math.max(0, ticking.value - since);
  return <span class="hint">{old < 1_000 ? "just now" : `${duration(old)} ago`}</span>;
}
