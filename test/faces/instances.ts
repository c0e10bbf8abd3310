export { Membership, type MembershipOptions } from "../../src/instances/membership.ts";
export { SharedBreakers } from "../../src/instances/shared-breakers.ts";
export { SharedPlaces } from "../../src/instances/shared-places.ts";
