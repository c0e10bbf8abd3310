import type { RecordedResponse } from "../../../../types.ts";
import { Badge, Code } from "../../../parts/bits.tsx";

type Headers = RecordedResponse["headers"];

interface Message {
  readonly headers: Headers;
  readonly body: string;
  readonly truncated: boolean;
}

export interface ExchangeProps {
  /** Whose it is: the parts of the page are named after it. */
  readonly id: string;
  /** Null where nothing was sent. */
  readonly request: Message | null;
  /** Method and address. */
  readonly target: string;
  /** Null where no answer came. */
  readonly response: RecordedResponse | null;
}

/** A request and its answer, as they went over the wire. */
export function Exchange({ id, request, target, response }: ExchangeProps) {
  return (
    <>
      <h3>Request</h3>
      {request === null ? (
        <p class="hint">Nothing was sent.</p>
      ) : (
        <>
          <p class="mono">{target}</p>
          <Part {...request} name={`of the request ${id}`} />
        </>
      )}
      <h3>Answer</h3>
      {response === null ? (
        <p class="hint">None came.</p>
      ) : (
        <>
          <p>
            <Badge tone={response.status < 400 ? "good" : "bad"}>{response.status}</Badge>
          </p>
          <Part {...response} name={`of the answer ${id}`} />
        </>
      )}
    </>
  );
}

function Part({ headers, body, truncated, name }: Message & { readonly name: string }) {
  return (
    <>
      <details>
        <summary>Headers ({Object.keys(headers).length})</summary>
        <HeaderTable headers={headers} name={`Headers ${name}`} />
      </details>
      {body === "" ? <p class="hint">No body.</p> : <Code text={body} label={`Body ${name}`} />}
      {truncated && <p class="hint">It was longer: this is the beginning.</p>}
    </>
  );
}

function HeaderTable({ headers, name }: { readonly headers: Headers; readonly name: string }) {
  return (
    <table class="headers mono" aria-label={name}>
      <thead class="visually-hidden">
        <tr>
          <th scope="col">Name</th>
          <th scope="col">Value</th>
        </tr>
      </thead>
      <tbody>
        {Object.entries(headers).map(([header, value]) => (
          <tr key={header}>
            <th scope="row">{header}</th>
            <td>{[value].flat().join(", ")}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
