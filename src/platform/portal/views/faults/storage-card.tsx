import { control } from "../../api/control.ts";
import { useLive } from "../../live/use-live.ts";
import { Badge, Failure } from "../../parts/bits.tsx";
import { Action } from "../../parts/form.tsx";

/** Whether the platform can keep images (section 7, NOT_CONFIGURED). */
export function StorageCard() {
  const { data, error, reload } = useLive(control.storage, {
    key: "storage",
    concerns: ({ kind }) => kind === "state",
  });
  const configured = data?.configured !== false;
  return (
    <section class="card" aria-labelledby="fault-storage">
      <h2 id="fault-storage">
        Storage for images{" "}
        {data !== undefined && (
          <Badge tone={configured ? "good" : "warn"}>{configured ? "on" : "off"}</Badge>
        )}
      </h2>
      {error !== undefined && <Failure error={error} retry={reload} />}
      <p>
        Without it uploads are answered with 503 <code>NOT_CONFIGURED</code>; everything else goes
        on. A bot should say what it can in words.
      </p>
      <Action
        run={async () => {
          await control.setStorage({ configured: !configured });
          await reload();
        }}
        done={`Storage is ${configured ? "off" : "on"}.`}
      >
        Switch {configured ? "off" : "on"}
      </Action>
    </section>
  );
}
