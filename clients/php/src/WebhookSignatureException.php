<?php

declare(strict_types=1);

namespace Cardpress;

/** A webhook that this service did not sign, or not lately. */
final class WebhookSignatureException extends CardpressException
{
}
