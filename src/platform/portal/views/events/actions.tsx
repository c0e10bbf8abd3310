import { useState } from "preact/hooks";
import type { EventTrace } from "../../../types.ts";
import { control } from "../../api/control.ts";
import { sendAgain } from "../../content/send-again.ts";
import { useKeys } from "../../keys/keys.ts";
import { useLive } from "../../live/use-live.ts";
import { Code, Loaded, save } from "../../parts/bits.tsx";
import { useCopy } from "../../parts/copy-text.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Action } from "../../parts/form.tsx";
import { Icon } from "../../parts/icon.tsx";
import { attempt } from "../../parts/toast.tsx";
import { EditDialog } from "./edit-dialog.tsx";
import { fixtureOf } from "./fixture.ts";

export interface ActionsProps {
  readonly detail: EventTrace;
  readonly isDead: boolean;
  /** The decisions about a dead letter alone. */
  readonly isBrief: boolean;
}

/** What can be done with an event. A dead letter can be retried and discarded. */
export function Actions({ detail, isDead, isBrief }: ActionsProps) {
  return (
    <div class="row">
      {isDead && <Decisions id={detail.event.id} />}
      {!isBrief && <Uses detail={detail} canRun={!isDead} />}
    </div>
  );
}

interface UsesProps {
  readonly detail: EventTrace;
  readonly canRun: boolean;
}

function Uses({ detail, canRun }: UsesProps) {
  const { event, bot } = detail;
  const what = { eventIds: [event.id] };
  const [open, setOpen] = useState<"edit" | "test">();
  const { copy, byHand } = useCopy("curl, signed for 5 minutes");
  const close = () => setOpen(undefined);
  const again = () => sendAgain(what, bot);
  const edit = () => setOpen("edit");
  const test = () => setOpen("test");
  const curl = async () => {
    const { command } = await control.curl(what, bot);
    await copy(command, "Copied a curl line, signed for 5 minutes.");
  };
  const keys = [
    { key: "s", label: "Run again", run: () => void attempt(again) },
    { key: "e", label: "Edit and send", run: edit },
    { key: "c", label: "Copy as curl", run: () => void attempt(curl) },
    { key: "t", label: "Make a test", run: test },
  ];
  useKeys(keys.map((key) => ({ ...key, group: "Events" })));
  return (
    <>
      {canRun && (
        <Action run={again} shortcut="s" title="Deliver the event once more">
          <Icon name="retry" /> Run again
        </Action>
      )}
      <Action run={edit} shortcut="e">
        <Icon name="edit" /> Edit and send
      </Action>
      <Action run={curl} shortcut="c">
        <Icon name="curl" /> Copy as curl
      </Action>
      <Action run={test} shortcut="t">
        <Icon name="test" /> Make a test
      </Action>
      {byHand}
      {open === "edit" && <EditDialog {...{ what, bot }} onClose={close} />}
      {open === "test" && <TestDialog detail={detail} onClose={close} />}
    </>
  );
}

function Decisions({ id }: { readonly id: string }) {
  return (
    <>
      <Action
        tone="primary"
        run={() => control.decideInbox(id, "retry")}
        done="The dead letter runs again."
      >
        <Icon name="retry" /> Retry
      </Action>
      <Action
        tone="danger"
        run={() => control.decideInbox(id, "discard")}
        done="The event is discarded."
      >
        <Icon name="trash" /> Discard
      </Action>
    </>
  );
}

interface TestDialogProps {
  readonly detail: EventTrace;
  readonly onClose: () => void;
}

/** A test of the bot, made from an event and the requests because of it. */
function TestDialog({ detail, onClose }: TestDialogProps) {
  const { copy, byHand } = useCopy("The test");
  const live = useLive(() => makeTest(detail), { key: "test", concerns: () => false });
  return (
    <Dialog title="Make a test" onClose={onClose} wide>
      <Loaded live={live}>
        {({ name, text }) => (
          <>
            <p>
              Save it as <code>test/{name}</code> in a bot from the template “starter”, and run{" "}
              <code>npm test</code>. It needs no platform and no network.
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

async function makeTest({ event, deliveries, calls, runs }: EventTrace) {
  const isHandled = runs.length > 0 || deliveries.some(({ error }) => error === undefined);
  if (!isHandled && calls.length === 0) return fixtureOf(event);
  return fixtureOf(event, await Promise.all(calls.map(({ id }) => control.call(id))));
}
