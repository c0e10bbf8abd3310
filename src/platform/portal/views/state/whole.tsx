import { useState } from "preact/hooks";
import { control } from "../../api/control.ts";
import { save } from "../../parts/bits.tsx";
import { ConfirmDialog, Confirmed } from "../../parts/confirm.tsx";
import { bytes } from "../../parts/duration.ts";
import { FileButton } from "../../parts/file-button.tsx";
import { Action } from "../../parts/form.tsx";
import { fileName } from "./names.ts";

/** The whole state: begun anew, taken elsewhere, brought from there. */
export function Whole() {
  const [file, setFile] = useState<File>();
  return (
    <section class="card" aria-labelledby="state-whole">
      <h2 id="state-whole">Everything</h2>
      <p class="hint">
        As JSON: people, content with its images, events, tokens, secrets, the webhook, limits.
        Treat the file like a password.
      </p>
      <div class="row">
        <Action
          run={async () => save(fileName("state", new Date(), "json"), await control.exportState())}
          done="The state is saved as a file."
        >
          Export
        </Action>
        <FileButton
          label="Import…"
          accept=".json,application/json"
          onFiles={([chosen]) => setFile(chosen)}
        />
        <Confirmed
          ask="Reset…"
          title="Begin anew?"
          confirm="Reset"
          done="Everything has begun anew."
          run={() => control.reset()}
        >
          <p>
            What is left is the small world of the start: the bot, Ada and Ben, with the limits of
            the start and the machine's time. The first bot keeps its tokens and its secret, so it
            goes on working; its webhook has no address then. Snapshots stay.
          </p>
        </Confirmed>
      </div>
      {file !== undefined && <ImportDialog file={file} onClose={() => setFile(undefined)} />}
    </section>
  );
}

function ImportDialog({ file, onClose }: { readonly file: File; readonly onClose: () => void }) {
  return (
    <ConfirmDialog
      title={`Import ${file.name}?`}
      confirm="Import"
      done={`${file.name} is the state now.`}
      run={() => control.importState(file)}
      onClose={onClose}
    >
      <p>
        {bytes(file.size)}. It replaces everything: people, content, events, tokens, secrets, the
        webhook, limits and the clock. Faults end, as with a restored snapshot.
      </p>
      <p>Take a snapshot first if you want to come back to what is here now.</p>
    </ConfirmDialog>
  );
}
