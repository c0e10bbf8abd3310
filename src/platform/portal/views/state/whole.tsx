import { control } from "../../api/control.ts";
import { Confirmed } from "../../parts/confirm.tsx";

/** The whole state, begun anew. Snapshots take it elsewhere and bring it from there. */
export function Whole() {
  return (
    <section class="card" aria-labelledby="state-whole">
      <h2 id="state-whole">Everything</h2>
      <p class="hint">To take the state elsewhere, download a snapshot and upload it there.</p>
      <div class="row">
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
    </section>
  );
}
