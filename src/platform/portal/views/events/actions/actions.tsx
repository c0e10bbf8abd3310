import { useState } from "preact/hooks";
import { control, type Delivery } from "../../../api/control.ts";
import { sendAgain } from "../../../content/send-again.ts";
import { useKeys } from "../../../keys/keys.ts";
import { useCopy } from "../../../parts/copy-text.tsx";
import { Action } from "../../../parts/form.tsx";
import { attempt } from "../../../parts/toast.tsx";
import type { Recorded } from "../fixture.ts";
import { EditDialog } from "./edit-dialog.tsx";
import { FixtureDialog } from "./fixture-dialog.tsx";

export interface ActionsProps {
  /** What is sent again. */
  readonly what: Delivery;
  /** The username of the bot that it goes to. */
  readonly bot: string;
  /** What a test is made from; there is none for a batch. */
  readonly fixture?: Recorded;
}

/** What can be done with an event or a delivery. */
export function Actions({ what, bot, fixture }: ActionsProps) {
  const [open, setOpen] = useState<"edit" | "fixture">();
  const { copy, byHand } = useCopy("curl, signed for 5 minutes");
  const close = () => setOpen(undefined);
  const again = () => sendAgain(what, bot);
  const edit = () => setOpen("edit");
  const test = () => setOpen("fixture");
  const curl = async () => {
    const { command } = await control.curl(what, bot);
    await copy(command, "A curl line, signed for 5 minutes, is copied.");
  };
  const keys = [
    { key: "s", label: "Send it again", run: () => void attempt(again) },
    { key: "e", label: "Edit and send", run: edit },
    { key: "c", label: "Copy as curl", run: () => void attempt(curl) },
    ...(fixture === undefined ? [] : [{ key: "t", label: "Make a test fixture", run: test }]),
  ];
  useKeys(keys.map((key) => ({ ...key, group: "Events" })));
  return (
    <div class="row event-actions">
      <Action run={again} shortcut="s" tone="primary">
        Send again
      </Action>
      <Action run={edit} shortcut="e">
        Edit and send
      </Action>
      <Action run={curl} shortcut="c">
        Copy as curl
      </Action>
      {fixture !== undefined && (
        <Action run={test} shortcut="t">
          Make a test fixture
        </Action>
      )}
      {byHand}
      {open === "edit" && <EditDialog what={what} bot={bot} onClose={close} />}
      {open === "fixture" && fixture !== undefined && (
        <FixtureDialog recorded={fixture} onClose={close} />
      )}
    </div>
  );
}
