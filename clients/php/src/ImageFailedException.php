<?php

declare(strict_types=1);

namespace Cardpress;

/** A card could not be made. The message is for people. */
final class ImageFailedException extends CardpressException
{
    /** Why, for programs; such as "no_player". */
    public readonly ?string $reason;
    /** What helps, in one sentence. */
    public readonly ?string $hint;

    /** @param array<string, mixed> $image */
    public function __construct(public readonly array $image)
    {
        parent::__construct($image['failure']['message']);
        $this->reason = $image['failure']['reason'] ?? null;
        $this->hint = $image['failure']['hint'] ?? null;
    }
}
