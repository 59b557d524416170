DROP INDEX "request_players_external";--> statement-breakpoint
CREATE INDEX "request_players_external" ON "request_players" USING btree ("account_id","external_id","created_at","request_id");