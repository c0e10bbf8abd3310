import type { CallRecord, DeliveryRecord, RecordedResponse } from "../../../types.ts";
import { control } from "../../api/control.ts";
import { reasonOf } from "../../content/body.ts";
import { addressOf, title } from "../../live/route.ts";
import { useLive } from "../../live/use-live.ts";
import { Code, Loaded } from "../../parts/bits.tsx";
import { remedyOf } from "./remedy.ts";

type ExchangeRecord = DeliveryRecord | CallRecord;

/** Reads a delivery (`dlv_…`) or an API call (`call_…`). Records never change. */
function useRecord(id: string) {
  const read = (): Promise<ExchangeRecord> =>
    id.startsWith("dlv_") ? control.delivery(id) : control.call(id);
  return useLive(read, { key: id, concerns: () => false });
}

export function Exchange({ id }: { readonly id: string }) {
  return (
    <Loaded live={useRecord(id)}>
      {(record) => {
        const { request, response } = record;
        const method = "method" in record ? record.method : "POST";
        return (
          <div class="stack">
            <Failed record={record} />
            {request === null ? (
              <p class="hint">No request was sent.</p>
            ) : (
              <Message {...request} title={`${method} ${request.url}`} of={`the request ${id}`} />
            )}
            {response === null ? (
              <p class="hint">There was no response.</p>
            ) : (
              <Message
                {...response}
                title={`Response ${response.status}`}
                of={`the response ${id}`}
              />
            )}
          </div>
        );
      }}
    </Loaded>
  );
}

export function FailedDelivery({ id }: { readonly id: string }) {
  const { data } = useRecord(id);
  return data === undefined ? null : <Failed record={data} />;
}

function Failed({ record }: { readonly record: ExchangeRecord }) {
  if (!("error" in record)) return null;
  const reason = reasonOf(record.response?.body);
  const remedy = remedyOf({ ...record, code: reason?.split(":", 1)[0] });
  return (
    <>
      <p>
        <strong>{reason ?? record.error}</strong>
      </p>
      {remedy !== undefined && (
        <p>
          {remedy.text}{" "}
          {remedy.view !== undefined && (
            <a href={addressOf(remedy.view)}>Open {title(remedy.view)}</a>
          )}
        </p>
      )}
    </>
  );
}

interface MessageProps extends Pick<RecordedResponse, "headers" | "body" | "truncated"> {
  readonly title: string;
  readonly of: string;
}

function Message({ title: line, headers, body, truncated, of }: MessageProps) {
  const entries = Object.entries(headers);
  return (
    <>
      <p class="mono">{line}</p>
      <details>
        <summary>Headers ({entries.length})</summary>
        <table class="mono" aria-label={`Headers of ${of}`}>
          <tbody>
            {entries.map(([header, value]) => (
              <tr key={header}>
                <th scope="row">{header}</th>
                <td>{[value].flat().join(", ")}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </details>
      {body !== "" && <Code text={body} label={`Body of ${of}`} />}
      {truncated && <p class="hint">Only the beginning of the body was recorded.</p>}
    </>
  );
}
