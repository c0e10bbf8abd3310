import { useState } from "preact/hooks";
import type { EntryOf, EventTrace } from "../../../types.ts";
import { control } from "../../api/control.ts";
import { check } from "../../content/body.ts";
import { sendAgain } from "../../content/send-again.ts";
import { useKeys } from "../../keys/keys.ts";
import { useLive } from "../../live/use-live.ts";
import { Code, Loaded, save } from "../../parts/bits.tsx";
import { useCopy } from "../../parts/copy-text.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Action } from "../../parts/form.tsx";
import { Icon } from "../../parts/icon.tsx";
import { attempt } from "../../parts/toast.tsx";
import { fixtureOf } from "./fixture.ts";
import { isTaken, type Part } from "./stories.ts";

export interface UsesProps extends Pick<EventTrace, "event" | "bot"> {
  readonly parts: readonly Part[];
  /** False for a dead letter, because the Retry button runs it. */
  readonly canRun: boolean;
}

export function Uses({ event, bot, parts, canRun }: UsesProps) {
  const what = { eventIds: [event.id] };
  const [open, setOpen] = useState<"edit" | "test">();
  const { copy, byHand } = useCopy("curl command, valid for 5 minutes");
  const curl = async () => {
    const { command } = await control.deliveryCommand(what, bot);
    await copy(command, "Copied the curl command. Its signature is valid for 5 minutes.");
  };
  const uses = [
    { key: "s", icon: "retry", label: "Run again", run: () => sendAgain(what, bot) },
    { key: "e", icon: "edit", label: "Edit and send", run: () => setOpen("edit") },
    { key: "c", icon: "curl", label: "Copy as curl", run: curl },
    { key: "t", icon: "test", label: "Make a test", run: () => setOpen("test") },
  ] as const;
  const shown = uses.slice(canRun ? 0 : 1);
  const group = "Events";
  useKeys(
    shown.map(({ key, label, run }) => ({ key, label, group, run: () => void attempt(run) })),
  );
  const onClose = () => setOpen(undefined);
  return (
    <div class="row">
      {shown.map(({ key, icon, label, run }) => (
        <Action key={key} run={run} shortcut={key}>
          <Icon name={icon} /> {label}
        </Action>
      ))}
      {byHand}
      {open === "edit" && <EditDialog event={event} bot={bot} onClose={onClose} />}
      {open === "test" && <TestDialog event={event} parts={parts} onClose={onClose} />}
    </div>
  );
}

export function Decisions({ eventId: id, bot }: Pick<EntryOf<"run">, "eventId" | "bot">) {
  return (
    <div class="row">
      <Action
        tone="primary"
        run={() => control.inbox.decide(id, "retry", bot)}
        done="Retried the dead letter."
      >
        <Icon name="retry" /> Retry
      </Action>
      <Action
        tone="danger"
        run={() => control.inbox.decide(id, "discard", bot)}
        done="Discarded the event."
      >
        <Icon name="trash" /> Discard
      </Action>
    </div>
  );
}

interface DialogProps extends Pick<EventTrace, "event"> {
  readonly onClose: () => void;
}

function EditDialog({ event, bot, onClose }: DialogProps & Pick<EventTrace, "bot">) {
  const [text, setText] = useState(() => JSON.stringify({ events: [event] }, null, 2));
  return (
    <Dialog title="Edit and send" onClose={onClose} wide>
      <p>
        Sends this body to @{bot} with a valid signature, even if the body is malformed. The
        delivery is not retried, and a failure does not count.
      </p>
      <label class="field">
        Body
        <textarea
          class="mono"
          rows={16}
          spellcheck={false}
          value={text}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
      </label>
      <output class="hint">{check(text)}</output>
      <div class="row">
        <Action run={() => sendAgain({ body: text }, bot)} tone="primary">
          Send
        </Action>
        <button type="button" onClick={onClose}>
          Close
        </button>
      </div>
    </Dialog>
  );
}

function TestDialog({ event, parts, onClose }: DialogProps & Pick<UsesProps, "parts">) {
  const { copy, byHand } = useCopy("The test");
  const live = useLive(() => makeTest(event, parts), { key: "test", concerns: () => false });
  return (
    <Dialog title="Make a test" onClose={onClose} wide>
      <Loaded live={live}>
        {({ name, text }) => (
          <>
            <p>
              Save this as <code>test/{name}</code> in a bot created from the starter template, then
              run <code>npm test</code>. The test needs no platform and no network.
            </p>
            <Code text={text} label="The test" />
            <div class="row">
              <Action run={() => copy(text, "Copied the test.")} tone="primary">
                Copy
              </Action>
              <Action run={() => save(name, new Blob([text], { type: "text/plain" }))}>
                Save as a file
              </Action>
            </div>
          </>
        )}
      </Loaded>
      {byHand}
    </Dialog>
  );
}

async function makeTest(event: EventTrace["event"], parts: readonly Part[]) {
  const calls = parts.flatMap((part) => (part.kind === "api" && !isTaken(part) ? [part.id] : []));
  const isHandled = parts.some((part) => part.kind === "run" || isTaken(part));
  if (!isHandled && calls.length === 0) return fixtureOf(event);
  return fixtureOf(event, await Promise.all(calls.map((call) => control.call(call))));
}
