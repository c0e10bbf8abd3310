import { type Failed, remedyOf } from "../remedy.ts";

/** Why a delivery failed, and what to do about it. */
export function Why(delivery: Failed) {
  if (delivery.error === undefined) return null;
  const remedy = remedyOf(delivery);
  return (
    <div class="failure">
      <p>{delivery.error}</p>
      {remedy !== undefined && <p>{remedy}</p>}
    </div>
  );
}
