<?php

declare(strict_types=1);

namespace Cardpress;

/** It was not ready in time. It goes on all the same. */
final class WaitedTooLongException extends CardpressException
{
}
