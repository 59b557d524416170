<?php

declare(strict_types=1);

namespace Cardpress;

/** What calls throw. */
abstract class CardpressException extends \RuntimeException
{
}
