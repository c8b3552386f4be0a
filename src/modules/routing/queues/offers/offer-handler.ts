import { create } from "@bufbuild/protobuf";
import {
  type AcceptOfferRequest,
  AcceptOfferResponseSchema,
  type OfferService as Rpc,
} from "../../../../../gen/service/api/offer_pb.ts";
import type { Context } from "../../../../chain/call.ts";
import type { Handlers } from "../../../../chain/handlers.ts";
import { recordResponse, unlessRepeated } from "../../../../platform/idempotency/index.ts";
import type { PlatformServices } from "../../../area.ts";
import type { PoolReader } from "../../pools/index.ts";
import { fromRow } from "../leasing/lease-message.ts";
import type { LeasedRow } from "../leasing/lease-store.ts";
import type { BeforeCommit } from "../leasing/limited-lease.ts";
import { readUntilDone } from "../waits/waits.ts";
import { fromItemOffer, fromOpenOffer } from "./offer-message.ts";
import type { OfferService } from "./offer-service.ts";
import { listOpenOffers } from "./offer-store.ts";
import type { OfferWaits } from "./offer-waits.ts";

interface Dependencies extends Pick<PlatformServices, "db"> {
  readonly pools: Pick<PoolReader, "requirePool">;
  readonly service: OfferService;
  readonly waits: OfferWaits;
}

export function offerHandlers({ db, pools, service, waits }: Dependencies): Handlers<typeof Rpc> {
  return {
    async listOffers(context, request) {
      const { sql, tenantId } = context;
      const { poolId, recipientId, waitS, pageToken, skip } = request;
      await pools.requirePool(context, poolId);
      const read = () =>
        context.page("offers", request, [poolId, recipientId], (wanted) =>
          listOpenOffers(sql, tenantId, poolId, recipientId, wanted),
        );
      const isFirstPage = pageToken === "" && skip <= 0;
      const page = await readUntilDone(context, {
        waits,
        target: { tenantId, poolId, recipientId },
        waitMs: isFirstPage ? waitS * 1000 : 0,
        read,
        isDone: ({ offers }) => offers.length > 0,
      });
      return { ...page, offers: page.offers.map(fromOpenOffer) };
    },

    acceptOffer: {
      /** The lease has a transaction of its own, because a pool with limits may have to try it again. */
      async ownCommit(context: Context, request: AcceptOfferRequest, keyed) {
        const snapshot = await pools.requirePool(context, request.poolId);
        const respond = (row: LeasedRow) => create(AcceptOfferResponseSchema, { item: fromRow(row, snapshot) });
        const recordKey: BeforeCommit = (tx, [row]) => recordResponse(tx, keyed, respond(row!));
        return unlessRepeated(db.sql, keyed, async () => {
          const { row, isNew } = await service.acceptOffer(context, snapshot, request, recordKey);
          // The call that accepted the offer may have had the same key.
          if (!isNew) await recordKey(db.sql, [row]);
          return respond(row);
        });
      },
    },

    async declineOffer(context, request) {
      return { offer: fromItemOffer(await service.declineOffer(context, request)) };
    },
  };
}
