#!/bin/sh
# Makes Temporal's two databases and brings their schema up to the version of this image; harmless to repeat.
# The connection comes from SQL_PLUGIN, SQL_HOST, SQL_PORT, SQL_USER and SQL_PASSWORD.
set -eu

bring_up() {
    temporal-sql-tool --db "$1" create
    temporal-sql-tool --db "$1" setup-schema -v 0.0
    temporal-sql-tool --db "$1" update-schema -d "/etc/temporal/schema/postgresql/v12/$2/versioned"
}

bring_up temporal temporal
bring_up temporal_visibility visibility
